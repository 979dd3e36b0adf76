/** Parses the template of a source's signed content (`{id}.{timestamp}.{body}`). */
import type { LocatorPlan, SignedSegment } from '../../schemas/generated/types.ts';
import type { ReportFault } from './locator.ts';

type Kind = SignedSegment['kind'];

const PLAIN: ReadonlySet<string> = new Set(['body', 'timestamp', 'id', 'url', 'method', 'params'] satisfies Kind[]);
const URL_FORMS: ReadonlySet<string> = new Set(['either-port', 'decoded']);
const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Returns the segments in order. Reports unknown placeholders, with a list of the known ones. */
export function parseSigned(template: string, report: ReportFault): SignedSegment[] {
  const segments: SignedSegment[] = [];
  let end = 0;
  const text = (until: number): void => {
    if (until > end) segments.push({ kind: 'text', value: [template.slice(end, until)] });
  };
  for (const match of template.matchAll(PLACEHOLDER)) {
    text(match.index);
    const segment = parsePlaceholder(match[1] ?? '');
    if (segment === null) {
      report(
        ['signed'],
        `unknown placeholder \`${match[0]}\`: known are {body}, {timestamp}, {id}, {url}, {url:either-port}, {url:decoded}, {method}, {json:path}, {params}`,
      );
    } else segments.push(segment);
    end = match.index + match[0].length;
  }
  text(template.length);
  return segments;
}

function parsePlaceholder(name: string): SignedSegment | null {
  if (PLAIN.has(name)) return { kind: name as Kind, value: [] };
  const [kind = '', ...rest] = name.split(':');
  const argument = rest.join(':');
  if (kind === 'json' && argument !== '') return { kind, value: argument.split('.') };
  return kind === 'url' && URL_FORMS.has(argument) ? { kind, value: [argument] } : null;
}

/**
 * Sorts alternative places of a value: signed ones, then the body, then headers and the query. The first non-empty place
 * is used, so that an unsigned value cannot override a signed one (decisions §4).
 */
export function signedFirst(places: readonly LocatorPlan[], signed: readonly SignedSegment[]): LocatorPlan[] {
  const rank = (at: LocatorPlan): number => (isSigned(at, signed) ? 0 : isInBody(at) ? 1 : 2);
  return [...places].sort((a, b) => rank(a) - rank(b));
}

function isSigned(at: LocatorPlan, signed: readonly SignedSegment[]): boolean {
  return signed.some(({ kind, value }) => {
    if (kind === 'body') return isInBody(at);
    if (kind === 'params') return at.in === 'form' && at.path.length === 0;
    if (kind === 'url') return at.in === 'query';
    return kind === 'json' && at.in === 'json' && at.path.join('.') === value.join('.');
  });
}

const isInBody = ({ in: place }: LocatorPlan): boolean => place === 'json' || place === 'form';
