/** Lowers the URL of `platforms.http`: its host is fixed, its path and query are a template. */
import { parseBaseUrl } from '../../../base/base-url.ts';
import { isPublicAddress } from '../../../base/public-address.ts';
import type { AddressPlan, HttpTargetConfig, ValueSegment } from '../../../schemas/generated/types.ts';
import type { Problem } from '../../diagnostics/problem.ts';
import { parseSecretRef } from '../../text/secret-ref.ts';
import type { ReportValue } from './value.ts';
import { isBuiltin, valueRef } from './value.ts';

interface UrlPlan {
  readonly origin: string;
  /** Path and query. */
  readonly path: ValueSegment[];
  readonly address: AddressPlan[];
}

const BRACES = /\{([^{}]*)\}/g;
const FIELD = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** Values are refused where they hold control characters. */
const ANY = '(?s).+';

/** Null: a problem is reported. */
export function lowerUrl(
  { url, allow_http = false, allow_private = false }: HttpTargetConfig,
  report: ReportValue,
): UrlPlan | null {
  const names: string[] = [];
  // A URL parser would encode the braces, and tells whether what is in their place is a part of path or query.
  const stand = url.replace(BRACES, (_, name: string) => `hw${names.push(name) - 1}wh`);
  const refuse = (message: string, more: Partial<Problem> = {}): null => {
    report(['url'], message, more);
    return null;
  };
  const within = (name: string): Partial<Problem> => ({
    within: { offset: url.indexOf(`{${name}}`), length: name.length + 2 },
  });
  const fixed = /^https?:\/\/[^/?#\\{}]+(?=[/?#\\]|$)/i.test(url);
  if (parseSecretRef(url, '').kind !== 'literal' || !fixed)
    return refuse('the host is fixed: write `https://` and its name; placeholders may follow in path and query');
  const base = parseBaseUrl(stand, { allowHttp: allow_http, secret: false });
  if (typeof base === 'string') return refuse(base, { rule: 'unsafe-url' });
  const { protocol, hostname, hash, pathname, search, origin } = new URL(stand);
  if (hash !== '' || url.includes('#')) return refuse('a URL ends before `#`: nothing behind it is ever sent');
  if (protocol === 'http:' && !allow_http)
    return refuse('`http://` sends texts and headers without encryption; use https://, or set allow_http: true', {
      rule: 'unsafe-url',
    });
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (/^[\d.]+$|:/.test(literal) && !allow_private && !isPublicAddress(literal))
    return refuse(`${literal} is no public address; set allow_private: true if you mean it`, { rule: 'unsafe-url' });
  for (const name of names) {
    if (name === 'text') return refuse('a URL may not hold the text; put `{text}` into `body`', within(name));
    if (!FIELD.test(name)) return refuse(`\`{${name}}\` is no placeholder; write \`%7B\` for a brace`, within(name));
  }
  const path = splitStandIns(pathname + search, names);
  const fields = [...new Set(names)].filter((name) => !isBuiltin(name));
  return { origin, path, address: fields.map((name) => ({ name, required: false, pattern: ANY })) };
}

function splitStandIns(text: string, names: readonly string[]): ValueSegment[] {
  return text.split(/hw(\d+)wh/).flatMap((part, index): ValueSegment[] => {
    if (index % 2 === 0) return part === '' ? [] : [{ kind: 'text', text: part }];
    const name = names[Number(part)];
    if (name === undefined) return [{ kind: 'text', text: `hw${part}wh` }];
    return [isBuiltin(name) ? valueRef(name) : valueRef('address', name)];
  });
}
