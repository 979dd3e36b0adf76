/** PostgreSQL connection URLs as libpq accepts them: `postgres://user:password@host:port/database?sslmode=…`. */

const PARTS = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?[^@]*$/;

export const isPostgresUrl = (text: string): boolean => PARTS.test(text) && URL.canParse(text);

/** The passwords in the URL, including that of the TLS key, both percent-encoded and decoded. */
export function passwordsIn(text: string): readonly string[] {
  if (!isPostgresUrl(text)) return [];
  const { password, searchParams } = new URL(text);
  const written = [password, ...['password', 'sslpassword'].map((name) => searchParams.get(name) ?? '')];
  return [...new Set(written.filter((each) => each !== '').flatMap((each) => [each, decode(each)]))];
}

export const holdsPassword = (text: string): boolean => passwordsIn(text).length > 0;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
