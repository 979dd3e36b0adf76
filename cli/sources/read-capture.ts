/** Reads a saved request in any of the three forms. */
import { CliError } from '../base/errors.ts';
import type { CapturedRequest, ReadFile } from './captured-request.ts';
import { readCurl } from './read-curl.ts';
import { readHar } from './read-har.ts';
import { readHttpMessage } from './read-http-message.ts';

/** @throws CliError if it is not one of the three. */
export function readCapture(bytes: Buffer, readFile: ReadFile): readonly CapturedRequest[] {
  const start = bytes.subarray(0, 4096).toString('latin1').trimStart();
  const found = start.startsWith('{')
    ? readHar(bytes.toString('utf8'))
    : /^(\$\s*)?curl\s/.test(start)
      ? [readCurl(bytes.toString('utf8'), readFile)]
      : [readHttpMessage(bytes)];
  if (found.length === 0) throw new CliError('the capture holds no request with a body');
  return found;
}
