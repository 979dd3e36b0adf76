/** Keeps secrets out of what is logged, stored or shown: every occurrence, in the forms a request can give them. */

export type Redact = (text: string) => string;

/** Shorter values would blacken ordinary words. */
const MIN_LENGTH = 4;

/** Shorter parts of a URL are words such as `hooks` and `webhooks`. */
const MIN_PART_LENGTH = 10;

export function createRedact(secrets: readonly string[]): Redact {
  const forms = new Set<string>();
  for (const secret of secrets.flatMap(withParts)) {
    if (secret.length < MIN_LENGTH) continue;
    forms.add(secret);
    forms.add(encodeURIComponent(secret));
    forms.add(JSON.stringify(secret).slice(1, -1));
    forms.add(Buffer.from(secret, 'utf8').toString('base64'));
  }
  // Longest first: a secret that contains another is replaced as a whole.
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  return (text) => ordered.reduce((result, form) => result.replaceAll(form, '***'), text);
}

/** Of a secret URL (an incoming webhook) the parts that make it one are secrets, too. */
function withParts(secret: string): string[] {
  const url = URL.canParse(secret) ? new URL(secret) : null;
  const parts = url === null ? [] : `${url.pathname}${url.search}`.split(/[/?&=]/);
  return [secret, ...parts.filter((part) => part.length >= MIN_PART_LENGTH)];
}
