/** What the console answers, and the refusals that its parts throw. */
import type { ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes what follows the head, until the client leaves; in place of `text`. */
  readonly stream?: (response: ServerResponse) => void;
}

/** A refusal with an HTTP status, a code for programs and a message for people. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const plainText = (status: number, body: string): Answer => ({
  status,
  type: 'text/plain; charset=utf-8',
  text: `${body}\n`,
});

export const json = (status: number, value: unknown, headers: Answer['headers'] = {}): Answer => ({
  status,
  type: 'application/json',
  text: `${JSON.stringify(value)}\n`,
  headers,
});

export const refused = ({ status, code, message, headers }: ApiRefusal): Answer =>
  json(status, { status: 'error', error: message, code }, headers);
