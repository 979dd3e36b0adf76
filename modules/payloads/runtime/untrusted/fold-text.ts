/** Folds look-alike characters into one, so that a search finds every spelling. */

/** Stands for a character without width: a combining mark, the second half of a surrogate pair. */
export const NOTHING = '\u0001';

const NO_WIDTH = NOTHING.charCodeAt(0);
const SPACE = 0x20;
const OTHER = 0x7f;
/** Stands for a character that resembles no ASCII character. */
export const OTHER_CHARACTER = String.fromCharCode(OTHER);

/** Look-alikes of the characters that markers consist of, in addition to those that Unicode normalisation finds. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  '<': '‹«〈⟨《⟪❮❰ᐸ≺˂⧼≪⋖⪡⦑⦉ᚲᑉ❬𝈶⟮',
  '/': '⁄∕⧸⧵∖╱⟋〳ノ丿᜵Ⳇ⼃╲⟍',
  '-': '‐‒–—―−⁃˗⎯ー─━╌⸺⸻۔ⲻᅳ',
  u: 'υսʋᴜꞟꭎꭒцʊ∪⋃ՍᑌꓴሀꮜᎫ𐓎𐓶𑣘𖽂µ',
  n: 'ᑎᴎꓵпոռηղɴиɲɳŋИΝꓠⲚ𐔓ɯภՈ∩ⴖ',
  t: 'ᴛꭲтτТΤᎢꓔⲦ⊤⟙†ŧƭʈŦꞇՇ🝨𐊗𐊱𐌕𑢼𖼊',
  r: 'ᖇꮢгꭇꭈᴦⲅʀᎡᏒꓣɾɼɽяЯր𐒴𖼵ꮁ',
  s: 'ᔕꜱꮥѕƽЅՏᏕᏚꓢ𐑈𐊖𐐠𑣁𖼺ꮪʂ§',
  e: 'ᴇꭼⲉеҽ℮ꬲɛєεΕЕⴹᎬꓰ∊∈⋿ǝəэɘɇ𐊆𑢦𑢮ҿ',
  d: 'ꭰᗫԁꓒᏧᑯɗđɖժᎠᗞᗪꓓᴅÐĐƉԀ',
};

const KNOWN = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([folded, alike]) =>
    [...alike].map((each) => [each.codePointAt(0) ?? 0, folded.charCodeAt(0)] as const),
  ),
);

/** Alphabets beyond the first 65,536 characters that Unicode does not decompose, by their A. */
const ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6];

/** Those that it does decompose: mathematical and enclosed letters. All others above U+FFFF are looked up, not normalised. */
const isDecomposed = (code: number): boolean =>
  (code >= 0x1d400 && code <= 0x1d7ff) || (code >= 0x1f100 && code <= 0x1f14f);

/** Brackets of any script. Quotation marks that Unicode puts in this class are excluded: prose uses them before words. */
const OPENING = /^\p{Ps}$/u;
const QUOTES = '‚„';
const LESS_THAN = 0x3c;

const WHITE_SPACE = /^\s$/;
const WITHOUT_WIDTH = /^[\p{M}\p{Default_Ignorable_Code_Point}]$/u;

function fold(code: number): number {
  const alike = KNOWN.get(code);
  if (alike !== undefined) return alike;
  if (code > 0xffff) {
    const first = ALPHABETS.find((a) => code >= a && code < a + 26);
    if (first !== undefined) return 0x61 + code - first;
    if (!isDecomposed(code)) return OTHER;
  }
  const character = String.fromCodePoint(code);
  if (WHITE_SPACE.test(character)) return SPACE;
  if (WITHOUT_WIDTH.test(character)) return NO_WIDTH;
  const plain = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  // `⒰` is `(u)`.
  const [, letter = character] = /^\(?(.)\)?$/u.exec(plain) ?? [];
  const folded = letter.codePointAt(0) ?? OTHER;
  if (folded >= OTHER && OPENING.test(character) && !QUOTES.includes(character)) return LESS_THAN;
  return folded < OTHER ? (folded === 0x5c ? 0x2f : folded) : (KNOWN.get(folded) ?? OTHER);
}

/** Folds of the first 65,536 characters, each computed on first use; 0: not computed yet. */
const folds = new Uint8Array(0x1_0000);

/** Folds one character, given its code point. */
export const foldCharacter = (code: number): string => String.fromCharCode(fold(code)).toLowerCase();

function foldUnit(unit: number): number {
  const known = folds[unit] ?? 0;
  if (known !== 0) return known;
  const folded = fold(unit);
  folds[unit] = folded;
  return folded;
}

/**
 * Folds a text to ASCII of the same length in UTF-16 units, so that an index into one is an index into the other. White
 * space becomes a space, a backslash a slash, and a character that resembles no ASCII character becomes `OTHER_CHARACTER`.
 */
export function foldText(text: string): string {
  const folded = Buffer.allocUnsafe(text.length);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const isPair = unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length;
    folded[index] = isPair ? fold(text.codePointAt(index) ?? OTHER) : foldUnit(unit);
    if (isPair) folded[++index] = NO_WIDTH;
  }
  return folded.toString('latin1');
}
