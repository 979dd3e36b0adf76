/** Maps letters of other scripts to the Latin letters that they look like: a copied `changeme` may contain them. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  (
    [
      // Cyrillic
      ['авекмнорстухіјѕԁԛԝһЅІЈАВЕКМНОРСТУХ', 'abekmhopctyxijsdqwhSIJABEKMHOPCTYX'],
      // Greek
      ['αεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'aeikvoptuxABEZHIKMNOPTYX'],
    ] as const
  ).flatMap(([foreign, latin]) => [...foreign].map((letter, at): [string, string] => [letter, latin[at] ?? ''])),
);

/** Replaces wide and accented letters with plain ones, and removes invisible characters. */
export const inPlainLetters = (text: string): string =>
  [
    ...text
      .normalize('NFKC')
      .normalize('NFD')
      .replace(/[\p{Mn}\p{Cf}]/gu, ''),
  ]
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('');
