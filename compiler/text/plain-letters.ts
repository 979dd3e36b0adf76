/** Letters of other scripts that look like Latin ones, as a copied `changeme` may have them. */
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

/** The text as it looks: wide and marked letters plain, what is invisible gone. */
export const inPlainLetters = (text: string): string =>
  [
    ...text
      .normalize('NFKC')
      .normalize('NFD')
      .replace(/[\p{Mn}\p{Cf}]/gu, ''),
  ]
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('');
