/** An error of the control socket, with a code for programs and a message for people. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
