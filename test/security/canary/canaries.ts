/** Secrets of every kind for the canary test, and a search for them in an output, in any form. */

/** Places of secrets. Each value names its place, in a unique form. */
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

/** End of every canary. */
const END = '-of-the-test-Xw9Canary';

/** Long enough for every rule, with characters that every kind of secret allows. */
export const canary = (kind: SecretKind): string => `Zq7Canary-${kind}${END}`;

/** Each form of a secret that an output could contain: verbatim, for URLs, for JSON in JSON, as hex, as Base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // A preceding text shifts its Base64 by up to two bytes. The middle of each shift is always the same.
  const shifted = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  // Even its start is a leak: lines are cut when they are shown.
  return [secret.slice(0, -END.length), encodeURIComponent(secret), bytes.toString('hex'), ...shifted];
}

const FORMS = KINDS.map((kind) => [kind, formsOf(canary(kind))] as const);

/** The kinds of secrets in a text, in any form. */
export function kindsIn(text: string): readonly SecretKind[] {
  return FORMS.filter(([, forms]) => forms.some((form) => text.includes(form))).map(([kind]) => kind);
}
