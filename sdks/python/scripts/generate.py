"""Writes src/packtrain/_generated.py from ../openapi.json. `--check` only compares, and exits 1 on a difference."""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
OPENAPI = HERE.parent / "openapi.json"
GENERATED = HERE / "src" / "packtrain" / "_generated.py"
GROUPS = {"core": "the client itself", "mobile": "`client.mobile`", "web": "`client.web`"}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
EMPTY = {"str": '""', "int": "0", "float": "0.0", "bool": "False", "Any": "None"}
PLATFORMS = {"android": "Android", "ios": "iOS", "web": "web"}


def snake(name: str) -> str:
    """`timeoutMs` to `timeout_ms`; a word of Python gets a trailing underscore."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return name + "_" if keyword.iskeyword(name) else name


def reference(schema: dict[str, Any]) -> str:
    """The name a `$ref` leads to."""
    return str(schema["$ref"]).rpartition("/")[2]


def quoted(text: str) -> str:
    """Text as it may stand in a docstring."""
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return text[:-1] + '\\"' if text.endswith('"') else text


def paragraph(text: str, indent: str, hanging: str = "") -> list[str]:
    """Text as lines of at most 110 columns."""
    return textwrap.wrap(
        quoted(text), 110, initial_indent=indent, subsequent_indent=indent + hanging, break_long_words=False
    )


class Generator:
    """Turns the document into the text of the module."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.schemas: dict[str, Any] = document["components"]["schemas"]
        self.operations = [path["post"] for path in document["paths"].values()]

    def module(self) -> str:
        """The whole module."""
        unknown = {operation["tags"][0] for operation in self.operations} - set(GROUPS)
        if unknown:
            sys.exit(f"unknown tags {sorted(unknown)}")
        out = [
            '"""The typed commands. Written by scripts/generate.py from openapi.json: do not edit."""',
            "",
            "from __future__ import annotations",
            "",
            "from dataclasses import dataclass, field",
            "from typing import Any, Literal",
            "",
            "from ._session import (",
            *(
                f"    {name},"
                for name in ("AsyncCommands", "AsyncScreenBase", "Session", "SyncCommands", "SyncScreenBase")
            ),
            ")",
            "",
        ]
        for name, schema in sorted(self.schemas.items()):
            if "enum" in schema:
                words = ", ".join(f'"{word}"' for word in self.words(name))
                out += [f"{name} = Literal[{words}]", f'"""{quoted(self.enum_doc(name))}"""', ""]
        for name in sorted({self.response(o) for o in self.operations if o["x-packtrain-returns"] == "message"}):
            out += self.message(name, False) + self.message(name, True)
        out += self.table()
        for sync in (False, True):
            for group, where in GROUPS.items():
                out += self.group(group, where, sync)
        return "\n".join(out)

    def table(self) -> list[str]:
        """Where each command is, for mocks and tests."""
        out = ["", "METHODS: dict[str, str] = {"]
        out += [f'    "{snake(o["operationId"])}": "{o["operationId"]}",' for o in self.operations]
        out += ["}", '"""The command of the wire for each method."""', ""]
        out += ["RETURNS: dict[str, str] = {"]
        out += [f'    "{o["operationId"]}": "{o["x-packtrain-returns"]}",' for o in self.operations]
        out += ["}", '"""The field of the answer that is returned, `message` for all of it, or `nothing`."""', ""]
        return out

    def words(self, enum: str) -> list[str]:
        """The values of an enum without the prefix, in lower case."""
        prefix = snake(enum).upper() + "_"
        values: list[str] = self.schemas[enum]["enum"]
        if not all(value.startswith(prefix) for value in values):
            if enum == "Error":
                return []
            sys.exit(f"{enum}: values must start with {prefix}")
        return [value.removeprefix(prefix).lower() for value in values]

    def enum_doc(self, enum: str) -> str:
        """The description of an enum, its values as in the SDK."""
        pattern = rf"\b{snake(enum).upper()}_([A-Z_]+)"
        return re.sub(pattern, lambda match: f'`"{match[1].lower()}"`', self.schemas[enum]["description"])

    def type_of(self, schema: dict[str, Any]) -> str:
        """The Python type of a property."""
        if "$ref" in schema:
            if "enum" not in self.schemas[reference(schema)]:
                sys.exit(f"{reference(schema)}: only enums can be referred to")
            return reference(schema)
        kind = schema.get("type")
        if kind is None:
            return "Any"
        if kind not in SCALARS:
            sys.exit(f"no Python type for {schema}")
        return SCALARS[kind]

    def properties(self, message: str) -> list[tuple[str, dict[str, Any], bool]]:
        """Name, schema and whether it is required, in the order of arguments, required ones first."""
        schema = self.schemas[message]
        required = schema.get("required", [])
        ordered = sorted(schema["properties"].items(), key=lambda item: item[1]["x-packtrain-number"])
        return sorted(((n, s, n in required) for n, s in ordered), key=lambda item: not item[2])

    def response(self, operation: dict[str, Any]) -> str:
        """The message of an operation's answer."""
        return reference(operation["responses"]["200"]["content"]["application/json"]["schema"])

    def message(self, name: str, sync: bool) -> list[str]:
        """A message that is returned as a whole: a screen."""
        kind = "Sync" if sync else "Async"
        out = ["", "@dataclass(frozen=True)", f"class {self.screen(sync)}({kind}ScreenBase):"]
        lines = paragraph(self.schemas[name]["description"], "    ")
        lines[0] = '    """' + lines[0].lstrip()
        out += [*lines, '    """', ""] if len(lines) > 1 else [lines[0] + '"""', ""]
        out += ["    _session: Session = field(repr=False, compare=False)"]
        for property, schema, required in self.properties(name):
            type = self.type_of(schema)
            out += [f"    {snake(property)}: {type if required or type == 'bool' else f'{type} | None'}"]
            out += [f'    """{quoted(schema["description"])}"""']
        return [*out, ""]

    def screen(self, sync: bool) -> str:
        """The name of the class of screens."""
        return "SyncScreen" if sync else "Screen"

    def get(self, message: str, name: str) -> tuple[str, str]:
        """Type and expression of a field of `answer`; what the wire left out as empty is the type's empty value."""
        [(schema, required)] = [(s, r) for n, s, r in self.properties(message) if n == name]
        type = self.type_of(schema)
        if type not in EMPTY:
            sys.exit(f"{message}.{name}: enums in answers are not supported")
        if type == "Any":
            return "Any", f'answer.get("{name}")'
        if required or type == "bool":
            return type, f'answer.get("{name}", {EMPTY[type]})'
        return f"{type} | None", f'answer.get("{name}")'

    def group(self, group: str, where: str, sync: bool) -> list[str]:
        """A class of commands."""
        kind = "Sync" if sync else "Async"
        out = ["", f"class {kind}{group.capitalize()}({kind}Commands):"]
        out += [f'    """Commands of {where}."""']
        for operation in self.operations:
            if operation["tags"][0] == group:
                out += ["", *self.method(operation, sync)]
        return [*out, ""]

    def method(self, operation: dict[str, Any], sync: bool) -> list[str]:
        """A command."""
        name, returns = operation["operationId"], operation["x-packtrain-returns"]
        arguments = self.properties(reference(operation["requestBody"]["content"]["application/json"]["schema"]))
        parameters = ["self"] + [f"{snake(n)}: {self.type_of(s)}" for n, s, required in arguments if required]
        optional = [f"{snake(n)}: {self.type_of(s)} | None = None" for n, s, required in arguments if not required]
        parameters += ["*", *optional] if optional else []
        body, prepare = [], []
        for argument, schema, required in arguments:
            value = snake(argument)
            if "$ref" in schema:
                prefix = snake(reference(schema)).upper() + "_"
                wire = f'f"{prefix}{{{value}.upper()}}"'
                prepare += [
                    f"        {value}_wire = {wire if required else f'{wire} if {value} is not None else None'}"
                ]
                value += "_wire"
            body.append(f'"{argument}": {value}')
        call = f'{"" if sync else "await "}self._command("{name}", {{{", ".join(body)}}})'
        response = self.response(operation)
        if returns == "nothing":
            type, result = "None", [f"        {call}"]
        elif returns == "message":
            type = self.screen(sync)
            result = [f"        answer = {call}", f"        return {type}(", "            self._session,"]
            result += [f"            {snake(n)}={self.get(response, n)[1]}," for n, _, _ in self.properties(response)]
            result += ["        )"]
        else:
            type, expression = self.get(response, returns)
            result = [f"        answer = {call}", f"        value: {type} = {expression}", "        return value"]
        head = f"    {'def' if sync else 'async def'} {snake(name)}({', '.join(parameters)}) -> {type}:"
        if len(head) > 118:
            head = f"    {'def' if sync else 'async def'} {snake(name)}(\n        {', '.join(parameters)}\n    ) -> {type}:"
        return [head, *self.docstring(operation, arguments), *prepare, *result]

    def docstring(self, operation: dict[str, Any], arguments: list[tuple[str, dict[str, Any], bool]]) -> list[str]:
        """Description, arguments, platforms."""
        out = paragraph(operation["description"], "        ")
        out[0] = '        """' + out[0].lstrip()
        if arguments:
            out += [""]
        for argument, schema, _ in arguments:
            text = schema.get("description") or self.enum_doc(reference(schema))
            if "$ref" in schema:
                text += " One of " + ", ".join(f'`"{word}"`' for word in self.words(reference(schema))) + "."
            out += paragraph(f"`{snake(argument)}`: {text}", "        ", "    ")
        platforms = [PLATFORMS[p] for p in operation["x-packtrain-platforms"]]
        return [*out, "", f"        Platforms: {', '.join(platforms)}.", '        """']


def main() -> None:
    """The command line."""
    text = Generator(json.loads(OPENAPI.read_text("utf-8"))).module()
    if sys.argv[1:] == ["--check"]:
        if not GENERATED.exists() or GENERATED.read_text("utf-8") != text:
            sys.exit("src/packtrain/_generated.py is not what openapi.json says: run scripts/generate.py")
    else:
        GENERATED.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
