/** Text forms of signatures and keys. Strict on the wire: a signature has exactly one valid spelling. */

export type Encoding = 'hex' | 'base64' | 'base64url';

/** The alphabets; below, the characters that may end a group of one or two bytes, with the unused bits zero. */
const BASE64 = {
  base64: { alphabet: 'A-Za-z0-9+/', padded: true },
  base64url: { alphabet: 'A-Za-z0-9_-', padded: false },
} as const;
const LAST_OF_ONE = '[AQgw]';
const LAST_OF_TWO = '[AEIMQUYcgkosw048]';

/** Matches exactly the canonical texts of `bytes` bytes; hex in either case. */
export function canonicalForm(encoding: Encoding, bytes: number): RegExp {
  if (encoding === 'hex') return new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`);
  const { alphabet, padded } = BASE64[encoding];
  const whole = Math.floor(bytes / 3) * 4;
  const pad = (text: string): string => (padded ? text : '');
  const rest = ['', `[${alphabet}]${LAST_OF_ONE}${pad('==')}`, `[${alphabet}]{2}${LAST_OF_TWO}${pad('=')}`][bytes % 3];
  return new RegExp(`^[${alphabet}]{${whole}}${rest}$`);
}

/** Decodes a text of any length; null when it is not canonical. */
export function decodeCanonical(encoding: Encoding, text: string): Buffer | null {
  const bytes = Buffer.from(text, encoding);
  const again = bytes.toString(encoding);
  return (encoding === 'hex' ? again === text.toLowerCase() : again === text) ? bytes : null;
}

/** The bytes of a header value, which Node reads as Latin-1; null for text that no header can hold. */
export function headerBytes(text: string): Buffer | null {
  return /^[\x00-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : null;
}

export function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}
