/**
 * Undoes the content encoding and the charset of a body, within limits: a small body must not become a large one, and neither
 * header is signed, so that neither may change the meaning of a signed body.
 */
import { isUtf8 } from 'node:buffer';
import type { ZlibOptions } from 'node:zlib';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** Unsupported encodings and charsets (415), a body that is not in its encoding (400), and one that is too large (413). */
export type DecodingFault = 'content_encoding' | 'bad_encoding' | 'decoded_too_large' | 'charset' | 'not_utf8';

type Decode = (body: Buffer, options: ZlibOptions) => unknown;

/** Some senders of `deflate` leave out the header of zlib, whose first four bits are 8. */
const inflate: Decode = (body, options) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? inflateSync(body, options) : inflateRawSync(body, options);

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflate],
  ['br', brotliDecompressSync],
]);

/** A decoded body has at most this many times the bytes of the transmitted one; a small one may always have `FREE_BYTES`. */
const MAX_RATIO = 200;
const FREE_BYTES = 65_536;

/** Undoes `Content-Encoding`: one of gzip (also of several members), deflate and br, of the whole body. @param limit in bytes */
export function decodeBody(encoding: string | undefined, body: Buffer, limit: number): Buffer | DecodingFault {
  const [name, second] = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity');
  if (name === undefined) return body;
  const decode = second === undefined ? DECODERS.get(name) : undefined;
  if (decode === undefined) return 'content_encoding';
  if (body.length === 0) return body;
  const maxOutputLength = Math.min(limit, Math.max(FREE_BYTES, body.length * MAX_RATIO));
  try {
    // With `info`, the number of bytes that were read shows whether others follow.
    const { buffer, engine } = decode(body, { maxOutputLength, info: true }) as Decoded;
    return engine.bytesWritten === body.length ? buffer : 'bad_encoding';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'decoded_too_large' : 'bad_encoding';
  }
}

interface Decoded {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

const CHARSET = /;\s*charset\s*=\s*["']?([^"';,\s]+)/i;
const UTF8 = /^utf-?8$/i;
const ESCAPES = /(?:%[0-9a-fA-F]{2})+/g;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Converts a body in a declared charset to UTF-8. Valid UTF-8 stays as it is, whatever is declared, and no quote or backslash
 * may become part of another character: otherwise a captured body could be given another structure with another charset.
 * @param isForm its percent escapes are in the charset too
 */
export function toUtf8(contentType: string | undefined, body: Buffer, isForm: boolean): Buffer | DecodingFault {
  const [, label = 'utf-8'] = CHARSET.exec(contentType ?? '') ?? [];
  if (UTF8.test(label)) return body;
  const decoder = decoderOf(label);
  if (decoder === null) return 'charset';
  if (isUtf8(body) && !body.includes(0) && !isForm) return body;
  try {
    const text = decoder.decode(body);
    if (!decoder.encoding.startsWith('utf-16') && !keepsMarks(body, text)) return 'not_utf8';
    return Buffer.from(isForm ? text.replace(ESCAPES, (run: string) => recoded(run, decoder)) : text);
  } catch {
    return 'not_utf8';
  }
}

type Decoder = Pick<InstanceType<typeof TextDecoder>, 'encoding' | 'decode'>;

/** The bytes 80 to 9F of windows-1252, which the labels of Latin-1 and ASCII mean too; some versions of Node decode them as Latin-1. */
const HIGH_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function decoderOf(label: string): Decoder | null {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    const { encoding } = decoder;
    if (encoding !== 'windows-1252') return decoder;
    const highOf = (sign: string): string => HIGH_1252.charAt(sign.charCodeAt(0) - 0x80);
    return { encoding, decode: (bytes) => decoder.decode(bytes).replace(/[\x80-\x9f]/g, highOf) };
  } catch {
    return null;
  }
}

/** Percent escapes that are UTF-8 already stay. @throws TypeError if they are not in the charset */
function recoded(run: string, decoder: Decoder): string {
  const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
  return isUtf8(bytes) ? run : encodeURIComponent(decoder.decode(bytes));
}

const keepsMarks = (body: Buffer, text: string): boolean =>
  [QUOTE, BACKSLASH].every((mark) => countByte(body, mark) === text.split(String.fromCharCode(mark)).length - 1);

function countByte(body: Buffer, byte: number): number {
  let count = 0;
  for (let at = body.indexOf(byte); at >= 0; at = body.indexOf(byte, at + 1)) count++;
  return count;
}
