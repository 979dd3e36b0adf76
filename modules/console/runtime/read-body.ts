/** Reads the body of a request to the console, which is small: a JSON object, or the form of the login. */
import type { ServerResponse } from 'node:http';
import { tryParseJson } from '../../../base/try-parse-json.ts';
import type { IntakeRequest } from '../../../runtime/intake/body.ts';
import { isFormEncoded } from '../../../runtime/verify/request.ts';
import { ApiRefusal } from './answer.ts';

/** In bytes; a test event may bring a payload. */
const MOST = 1_048_576;

/** @returns an object without a prototype of its own making @throws ApiRefusal */
export async function readBody(request: IntakeRequest, response: ServerResponse, takesForms: boolean): Promise<object> {
  if (Number(request.headers['content-length'] ?? 0) > MOST) throw TOO_LARGE;
  if (request.awaitsContinue) response.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST) throw TOO_LARGE;
    chunks.push(chunk);
  }
  if (size === 0) return {};
  const text = Buffer.concat(chunks).toString('utf8');
  if (takesForms && isFormEncoded(request.headers)) return Object.fromEntries(new URLSearchParams(text));
  if (typeOf(request) !== 'application/json')
    throw new ApiRefusal(415, 'unsupported_media_type', 'the body is application/json');
  const input = tryParseJson(text);
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  throw new ApiRefusal(400, 'bad_input', 'the body is a JSON object');
}

const typeOf = ({ headers }: IntakeRequest): string =>
  (headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase();

const TOO_LARGE = new ApiRefusal(413, 'payload_too_large', `a body may have ${MOST} bytes`);
