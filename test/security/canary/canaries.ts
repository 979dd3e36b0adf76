/** Secrets of every kind for the canary test, and how one of them is found in an output, in whatever form it came there. */

/** Where a secret can stand; the value of each says so itself, in a form that nothing else has. */
export const KINDS = [
  'global-env',
  'route-env',
  'route-dotenv',
  'route-file',
  'route-literal',
  'rotation-new',
  'rotation-old',
  'verify-token',
  'target-token',
  'target-url',
  'target-password',
  'target-exchange',
  'exchanged-token',
  'agent-key',
  'subscription-literal',
  'subscription-env',
  'profile-route',
  'profile-token',
  'unreferenced-env',
  'unreferenced-dotenv',
] as const;

export type SecretKind = (typeof KINDS)[number];

/** Ends every canary. */
const END = '-of-the-test-Xw9Canary';

/** Long enough for every rule, of characters that every kind of secret may have. */
export const canary = (kind: SecretKind): string => `Zq7Canary-${kind}${END}`;

/** Each form of a secret that an output could hold: as it is, for URLs, for JSON in JSON, as hex, as Base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // What stands before a text shifts its Base64 by up to two bytes: the middle of each shift is the same whatever that is.
  const shifted = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  // Its beginning is too much already: lines are cut where they are shown.
  return [secret.slice(0, -END.length), encodeURIComponent(secret), bytes.toString('hex'), ...shifted];
}

const FORMS = KINDS.map((kind) => [kind, formsOf(canary(kind))] as const);

/** The kinds of secrets that a text holds, in any form. */
export function kindsIn(text: string): readonly SecretKind[] {
  return FORMS.filter(([, forms]) => forms.some((form) => text.includes(form))).map(([kind]) => kind);
}
