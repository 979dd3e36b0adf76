/** A refusal that crosses the control socket: a code for programs, a message for people. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
