//! The tools that a server lists, page by page: how much of it is taken, and what of a list that is
//! not as MCP has it. Knows nothing of what tools are for.

use std::collections::HashSet;

use rmcp::model::{
    ClientRequest, ListToolsRequest, ListToolsResult, PaginatedRequestParams, ServerResult, Tool,
};
use rmcp::service::ServiceError;
use serde::Deserialize;
use serde_json::Value;

use super::{ListedTool, McpClient, Notice, listed, sentence};

/// Tools that a source may list.
const MAX_TOOLS: usize = 10_000;
/// Pages that its list may have.
const MAX_PAGES: usize = 1_000;
/// Bytes of all tools and cursors, as JSON.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Tools that are left out and named one by one.
const NAMED: usize = 20;
/// Characters of a server's words in a sentence.
const QUOTED: usize = 200;
/// What is said of a list that nothing can be taken of.
const MALFORMED: &str = "malformed list of tools";

impl McpClient {
    /// All tools that the server lists. Those that are malformed are left out and told in its log.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) async fn tools(&self) -> Result<Vec<ListedTool>, String> {
        let mut pages = Pages::default();
        let mut cursor = None;
        loop {
            let page = match self.page(cursor).await? {
                ServerResult::ListToolsResult(page) => Page::from(page),
                ServerResult::CustomResult(page) => Page::read(page.0)?,
                _ => return Err(format!("{MALFORMED}: look at what `tools/list` answers")),
            };
            cursor = pages.add(page)?;
            if cursor.is_none() {
                break;
            }
        }
        let (tools, left_out) = pages.end()?;
        self.tell(&left_out);
        Ok(tools)
    }

    async fn page(&self, cursor: Option<String>) -> Result<ServerResult, String> {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        match self.peer.list_tools(Some(params.clone())).await {
            // One tool that is malformed makes it something else to the library, which does not say
            // what it was.
            Err(ServiceError::UnexpectedResponse) => {}
            page => {
                let page = page.map(ServerResult::ListToolsResult);
                return page.map_err(|error| sentence(&error));
            }
        }
        let request = ListToolsRequest {
            method: Default::default(),
            params: Some(params),
            extensions: Default::default(),
        };
        let answer = self
            .peer
            .send_request(ClientRequest::ListToolsRequest(request));
        answer.await.map_err(|error| sentence(&error))
    }

    fn tell(&self, left_out: &[LeftOut]) {
        let Some(notices) = self.notices.upgrade() else {
            return;
        };
        let log = |line: String| {
            // A log that is full already costs lines, not tools.
            let _ = notices.try_send(Notice::Log(line));
        };
        for LeftOut { name, why } in left_out.iter().take(NAMED) {
            log(format!("the tool `{name}` is left out: {why}"));
        }
        if left_out.len() > NAMED {
            log(format!(
                "{} more tools are left out",
                left_out.len() - NAMED
            ));
        }
    }
}

/// A tool that is not as MCP has it.
#[derive(Debug)]
struct LeftOut {
    name: String,
    why: String,
}

/// One page, its tools with their length as JSON.
#[derive(Debug)]
struct Page {
    tools: Vec<(Result<ListedTool, LeftOut>, usize)>,
    next: Option<String>,
}

impl From<ListToolsResult> for Page {
    fn from(page: ListToolsResult) -> Self {
        let sized = |tool: Tool| {
            let bytes = length(&tool);
            (Ok(listed(tool)), bytes)
        };
        Self {
            tools: page.tools.into_iter().map(sized).collect(),
            next: page.next_cursor,
        }
    }
}

impl Page {
    /// Takes what there is to take.
    fn read(mut page: Value) -> Result<Self, String> {
        let next = match page.get("nextCursor") {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(cursor.clone()),
            Some(_) => return Err(format!("{MALFORMED}: its `nextCursor` is not a string")),
        };
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err(format!("{MALFORMED}: it has no array `tools`"));
        };
        let read = |(place, tool): (usize, Value)| {
            let bytes = length(&tool);
            let read = Tool::deserialize(&tool).map(listed);
            let read = read.map_err(|error| LeftOut {
                name: tool
                    .get("name")
                    .and_then(Value::as_str)
                    .map_or_else(|| format!("number {} of its page", place + 1), quoted),
                why: quoted(&error.to_string()),
            });
            (read, bytes)
        };
        let tools = tools.into_iter().enumerate().map(read).collect();
        Ok(Self { tools, next })
    }
}

/// What was taken so far.
#[derive(Default)]
struct Pages {
    tools: Vec<ListedTool>,
    left_out: Vec<LeftOut>,
    count: usize,
    bytes: usize,
    cursors: HashSet<String>,
}

impl Pages {
    /// Takes a page and says where the next one is.
    fn add(&mut self, page: Page) -> Result<Option<String>, String> {
        self.count += 1;
        for (tool, bytes) in page.tools {
            self.bytes += bytes;
            match tool {
                Ok(tool) => self.tools.push(tool),
                Err(left_out) => self.left_out.push(left_out),
            }
        }
        self.bytes += page.next.as_ref().map_or(0, String::len);
        if self.tools.len() + self.left_out.len() > MAX_TOOLS {
            return Err(format!("it lists more than {MAX_TOOLS} tools"));
        }
        if self.bytes > MAX_BYTES {
            return Err(format!("its list of tools has more than {MAX_BYTES} bytes"));
        }
        let Some(next) = page.next else {
            return Ok(None);
        };
        if self.count == MAX_PAGES {
            return Err(format!("its list of tools has more than {MAX_PAGES} pages"));
        }
        if !self.cursors.insert(next.clone()) {
            let cursor = quoted(&next);
            return Err(format!(
                "its list of tools never ends: the cursor `{cursor}` was returned twice"
            ));
        }
        Ok(Some(next))
    }

    /// The tools, and what is not a tool. Nothing but the latter is an error: a source that has tools
    /// and offers none is not as it is meant.
    fn end(self) -> Result<(Vec<ListedTool>, Vec<LeftOut>), String> {
        match (self.tools.is_empty(), self.left_out.first()) {
            (true, Some(LeftOut { name, why })) => {
                Err(format!("{MALFORMED}: the tool `{name}`: {why}"))
            }
            _ => Ok((self.tools, self.left_out)),
        }
    }
}

fn length(tool: &impl serde::Serialize) -> usize {
    serde_json::to_vec(tool).map_or(0, |json| json.len())
}

fn quoted(words: &str) -> String {
    words.chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(tools: usize, description: &str, next: Option<String>) -> Page {
        let tool =
            |n| json!({ "name": format!("t{n}"), "description": description, "inputSchema": {} });
        let tools: Vec<_> = (0..tools).map(tool).collect();
        Page::read(json!({ "tools": tools, "nextCursor": next })).unwrap()
    }

    /// What there is to say of a server whose pages never end.
    fn endless(
        tools: usize,
        description: &str,
        cursor: impl Fn(usize) -> String,
    ) -> (usize, String) {
        let mut pages = Pages::default();
        for n in 1.. {
            if let Err(why) = pages.add(page(tools, description, Some(cursor(n)))) {
                return (n, why);
            }
        }
        unreachable!()
    }

    #[test]
    fn a_list_without_end_ends() {
        let own = |n: usize| n.to_string();
        let (pages, why) = endless(0, "", own);
        assert_eq!(
            (pages, &*why),
            (1000, "its list of tools has more than 1000 pages")
        );
        let (pages, why) = endless(3000, "", own);
        assert_eq!((pages, &*why), (4, "it lists more than 10000 tools"));
        let (pages, why) = endless(1, &"x".repeat(10 << 20), own);
        assert_eq!(
            (pages, &*why),
            (4, "its list of tools has more than 33554432 bytes")
        );
        let (pages, why) = endless(1, "", |n| "x".repeat(n << 20));
        assert_eq!(
            (pages, &*why),
            (8, "its list of tools has more than 33554432 bytes")
        );
        let (pages, why) = endless(1, "", |n| (n % 3).to_string());
        assert_eq!(pages, 4);
        assert!(why.contains("the cursor `1` was returned twice"), "{why}");
    }

    #[test]
    fn a_malformed_tool_costs_itself_only() {
        let list = json!({ "tools": [
            { "name": "a", "inputSchema": { "type": "object" } },
            { "name": "b" },
            { "name": "c", "inputSchema": "string" },
            { "name": "d", "inputSchema": {}, "_meta": [1] },
            { "inputSchema": {} },
            7,
            { "name": "e", "inputSchema": {}, "other": [1] },
        ] });
        let mut pages = Pages::default();
        assert_eq!(pages.add(Page::read(list).unwrap()), Ok(None));
        let (tools, left_out) = pages.end().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "e"]);
        let names: Vec<_> = left_out.iter().map(|one| &*one.name).collect();
        assert_eq!(
            names,
            [
                "b",
                "c",
                "d",
                "number 5 of its page",
                "number 6 of its page"
            ]
        );
        assert_eq!(left_out[0].why, "missing field `inputSchema`");
    }

    #[test]
    fn a_list_that_is_none_says_what_is_wrong() {
        for (list, why) in [
            (json!("x"), "no array `tools`"),
            (json!({ "tools": {} }), "no array `tools`"),
            (
                json!({ "tools": [], "nextCursor": 7 }),
                "`nextCursor` is not a string",
            ),
        ] {
            let said = Page::read(list).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        let mut pages = Pages::default();
        let list = json!({ "tools": [{ "name": "b" }] });
        assert_eq!(pages.add(Page::read(list).unwrap()), Ok(None));
        let said = pages.end().unwrap_err();
        assert!(
            said.contains("the tool `b`: missing field `inputSchema`"),
            "{said}"
        );
    }
}
