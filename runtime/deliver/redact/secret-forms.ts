/** The forms in which the bytes of a secret are written, beside escapes, which are decoded instead (`decode-escapes.ts`). */
import { decodedLayers } from './decode-escapes.ts';

/** Shorter parts of a URL are words such as `hooks` and `webhooks`. */
const MIN_PART_LENGTH = 10;
/** Shorter parts of base64 are in ordinary texts. */
const MIN_PIECE_LENGTH = 6;
/** Layers of escapes that are undone; a body in a form in a JSON text in a log line has three. */
export const MAX_LAYERS = 4;

/** Texts of bytes, as Latin-1. @param minLength of the secret and of its parts, in UTF-16 units */
export function secretForms(secret: string, minLength: number): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const value of withParts(secret)) {
    if (value.length < minLength) continue;
    for (const bytes of encodings(value)) {
      for (const layer of layersOf(bytes.toString('latin1'))) forms.add(layer);
      forms.add(bytes.toString('hex')).add(bytes.toString('hex').toUpperCase());
      for (const piece of base64Pieces(bytes)) forms.add(piece).add(piece.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  // Decoding makes a space of it.
  for (const form of forms) if (form.includes('+')) forms.add(form.replaceAll('+', ' '));
  return forms;
}

/** The secret itself, and, of a secret URL (an incoming webhook), the parts that are secret on their own. */
function withParts(secret: string): string[] {
  if (!secret.includes('://') || !URL.canParse(secret)) return [secret];
  const url = new URL(secret);
  const parts = `${url.pathname}${url.search}`.split(/[/?&=]/);
  return [secret, ...parts.filter((part) => part.length >= MIN_PART_LENGTH)];
}

/** As UTF-8; beyond ASCII also as Latin-1, and as UTF-8 that was read as Latin-1, as node:http reads headers. */
function encodings(value: string): Buffer[] {
  const utf8 = Buffer.from(value, 'utf8');
  if (utf8.length === value.length) return [utf8];
  const latin1 = /^[\x00-\xff]*$/.test(value) ? [Buffer.from(value, 'latin1')] : [];
  return [utf8, ...latin1, Buffer.from(utf8.toString('latin1'), 'utf8')];
}

/** The text, and what becomes of it when a text around it is decoded. */
const layersOf = (text: string): string[] => [
  text,
  ...Array.from(decodedLayers(text, MAX_LAYERS), (layer) => layer.text),
];

/**
 * Base64 of the bytes alone, and the characters that they determine when one or two bytes stand before them (`user:` of
 * Basic), whatever follows.
 */
function base64Pieces(bytes: Buffer): string[] {
  const pieces = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [bytes.toString('base64'), ...pieces.filter(({ length }) => length >= MIN_PIECE_LENGTH)];
}
