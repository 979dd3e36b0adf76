/** Random text for properties: any characters at all, and the words that objects inherit. */
import fc from 'fast-check';

/**
 * Like the unit `binary` of fast-check, which first builds an index of all of Unicode and so takes longer than the
 * tests.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

export const anyText = (size: fc.StringSharedConstraints = {}): fc.Arbitrary<string> =>
  fc.oneof(fc.string({ ...size, unit: anyCharacter }), fc.string(size));
