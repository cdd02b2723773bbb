/** What goes wrong between a tool and the device. Every message is the server's own. */

/** A command or a tool was not carried out. */
export class CommandError extends Error {
  /** The Connect code, as `failed_precondition`. */
  readonly code: string;
  /** The command, as `Tap`, or the tool that was called. */
  readonly command: string;

  constructor(message: string, command: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.command = command;
    this.code = code;
  }
}

/** The arguments are wrong. */
export class InvalidArgumentError extends CommandError {}
/** The element is not visible, the assertion does not hold, or the app refused. */
export class CommandFailedError extends CommandError {}
/** The device's platform has no such command. */
export class WrongPlatformError extends CommandError {}
/** The tool call that this belongs to has ended, or never was. */
export class InvocationEndedError extends CommandError {}
/** It was not done in time. */
export class DeadlineError extends CommandError {}
/** The device, or the run, is gone. */
export class DeviceUnavailableError extends CommandError {}
/** The tool call was cancelled. */
export class CancelledError extends CommandError {}

/** A tool that was called back failed. */
export class ToolCallError extends CommandError {
  /** The tool's name. */
  readonly tool: string;

  constructor(message: string, tool: string) {
    super(message, tool, "failed_precondition");
    this.tool = tool;
  }
}

const CLASSES: Record<string, typeof CommandError> = {
  invalid_argument: InvalidArgumentError,
  failed_precondition: CommandFailedError,
  unimplemented: WrongPlatformError,
  unauthenticated: InvocationEndedError,
  deadline_exceeded: DeadlineError,
  unavailable: DeviceUnavailableError,
  canceled: CancelledError,
};

/** The error of a Connect code. */
export function errorOf(code: string, message: string, command: string): CommandError {
  const Class = Object.hasOwn(CLASSES, code) ? CLASSES[code]! : CommandError;
  return new Class(message, command, code);
}

/** The error of an answer that is not what the protocol says. */
export function unreadable(command: string, status: number, body: string): CommandError {
  return new CommandError(`${command}: HTTP ${status}: ${body.slice(0, 200)}`, command, "unknown");
}
