/** Spellings of a secret that a request can hide, and a search for it that shares no code with the redactor. */

const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');
const hex4 = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');
const units = (text: string): string[] => Array.from({ length: text.length }, (_, at) => text[at] ?? '');
const percent = (text: string, upper: boolean, kept: RegExp): string =>
  [...utf8(text)]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      if (kept.test(char)) return char;
      const digits = byte.toString(16).padStart(2, '0');
      return `%${upper ? digits.toUpperCase() : digits}`;
    })
    .join('');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const wide = (text: string, write: (unit: string) => string): string =>
  json(text).replace(/[^\x20-\x7e]/g, (unit) => write(unit));
const references = (text: string, write: (point: number) => string): string =>
  [...text].map((char) => (/[A-Za-z0-9 ]/.test(char) ? char : write(char.codePointAt(0) ?? 0))).join('');
const names: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };
const base64 =
  (before: number) =>
  (text: string): string =>
    Buffer.concat([Buffer.from('user:xyz'.slice(0, before)), utf8(text), Buffer.from('!end')]).toString('base64');
const url64 = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

export const SPELLINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (text) => text,
  'UTF-8 read as Latin-1': (text) => utf8(text).toString('latin1'),
  'percent, upper': (text) => percent(text, true, /[A-Za-z0-9_.~-]/),
  'percent, lower': (text) => percent(text, false, /[A-Za-z0-9_.~-]/),
  'percent, all': (text) => percent(text, true, /[^\s\S]/),
  'percent, twice': (text) => percent(percent(text, true, /[A-Za-z0-9]/), false, /[A-Za-z0-9]/),
  form: (text) => new URLSearchParams({ v: Buffer.from(text).toString() }).toString().slice(2),
  JSON: json,
  'JSON, ASCII, lower': (text) => wide(text, (unit) => `\\u${hex4(unit)}`),
  'JSON, ASCII, upper': (text) => wide(text, (unit) => `\\u${hex4(unit).toUpperCase()}`),
  'JSON, slashes': (text) => json(text).replaceAll('/', '\\/'),
  'JSON, all': (text) =>
    units(text)
      .map((unit) => `\\u${hex4(unit)}`)
      .join(''),
  'JSON in JSON': (text) => json(wide(text, (unit) => `\\u${hex4(unit)}`)),
  'JSON in a form': (text) =>
    percent(
      wide(text, (unit) => `\\u${hex4(unit)}`),
      true,
      /[A-Za-z0-9]/,
    ),
  'HTML, names': (text) => text.replace(/[&<>"']/g, (char) => `&${names[char] ?? ''};`),
  'HTML, decimal': (text) => references(text, (point) => `&#${point};`),
  'HTML, hex': (text) => references(text, (point) => `&#x${point.toString(16).toUpperCase()};`),
  'hex, lower': (text) => utf8(text).toString('hex'),
  'hex, upper': (text) => utf8(text).toString('hex').toUpperCase(),
  base64: (text) => utf8(text).toString('base64'),
  'base64, behind one byte': base64(1),
  'base64, behind two bytes': base64(2),
  'base64, behind three bytes': base64(3),
  'base64, behind five bytes': base64(5),
  base64url: (text) => url64(base64(0)(text)),
  'base64url, behind one byte': (text) => url64(base64(1)(text)),
  'base64url, behind two bytes': (text) => url64(base64(2)(text)),
  'base64 in a form': (text) => percent(base64(2)(text), true, /[A-Za-z0-9]/),
  'base64 in JSON with slashes': (text) => base64(1)(text).replaceAll('/', '\\/'),
};

/** True if the bytes reveal the secret to a person who decodes them. */
export function reveals(bytes: Buffer, secret: string): boolean {
  const wanted = [utf8(secret), utf8(utf8(secret).toString('latin1'))];
  const holds = (found: Buffer): boolean => wanted.some((each) => found.includes(each));
  let text = bytes;
  for (let layer = 0; layer < 4; layer++) {
    if (holds(text)) return true;
    const ascii = text.toString('latin1');
    for (const [run] of ascii.matchAll(/[A-Za-z0-9+/_-]{8,}/g))
      for (let from = 0; from < 4; from++) if (holds(Buffer.from(run.slice(from), 'base64'))) return true;
    for (const [run] of ascii.matchAll(/[0-9a-fA-F]{12,}/g))
      for (let from = 0; from < 2; from++) if (holds(Buffer.from(run.slice(from), 'hex'))) return true;
    text = Buffer.from(decoded(ascii), 'latin1');
  }
  return false;
}

function decoded(text: string): string {
  const point = (digits: string, radix: number): string => {
    const code = Number.parseInt(digits, radix);
    return code > 0x10ffff ? '' : String.fromCodePoint(code);
  };
  const bytes = (characters: string): string => utf8(characters).toString('latin1');
  return text
    .replace(/(?:\\u[0-9a-fA-F]{4})+/g, (run) =>
      bytes(run.replace(/\\u(.{4})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))),
    )
    .replace(/\\(["\\/])/g, '$1')
    .replace(/%([0-9a-fA-F]{2})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/&#([0-9]{1,7});/g, (_all, digits: string) => bytes(point(digits, 10)))
    .replace(/&#x([0-9a-fA-F]{1,6});/g, (_all, digits: string) => bytes(point(digits, 16)))
    .replace(
      /&(amp|lt|gt|quot|apos);/g,
      (_all, name: string) => Object.keys(names).find((char) => names[char] === name) ?? '',
    );
}
