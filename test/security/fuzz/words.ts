/** Dictionaries of the fuzz harness: the words that the tested code looks for, taken from its own data. */
import { readdirSync, readFileSync } from 'node:fs';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';

const SCHEMAS = new URL('../../../schemas/', import.meta.url);

/** Every property name and every constant of the published schemas. */
export function schemaWords(): readonly string[] {
  const words = new Set<string>();
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && typeof value === 'object' && value !== null)
        for (const name of Object.keys(value)) words.add(name);
      if ((key === 'enum' || key === 'const') && typeof value !== 'object') words.add(String(value));
      if (key === 'enum' && Array.isArray(value)) for (const one of value) words.add(String(one));
      collect(value);
    }
  };
  for (const file of readdirSync(SCHEMAS).filter((name) => name.endsWith('.schema.json')))
    collect(JSON.parse(readFileSync(new URL(file, SCHEMAS), 'utf8')));
  return [...words];
}

export interface SourceWords {
  /** Names of headers with a signature, a time, an id or an event. */
  readonly headers: readonly string[];
  readonly events: readonly string[];
}

/** Words that the shipped sources look for in a request. */
export function sourceWords(): SourceWords {
  const headers = new Set<string>(['X-Request-ID']);
  const events = new Set<string>();
  for (const { plan, file } of loadShippedSources().lowered) {
    const places = [...plan.signature, ...plan.event, ...plan.delivery, plan.id, plan.timestamp?.at ?? null];
    for (const at of places) if (at?.in === 'header') headers.add(at.name);
    for (const event of (file.events ?? []).slice(0, 3)) events.add(String(event));
  }
  return { headers: [...headers], events: [...events] };
}

/** Text that has broken parsers of names, numbers, markup, terminals, shells and paths. */
export const ODD_TEXTS: readonly string[] = [
  ...['', ' ', '\0', '\t', '\r\n', '\n', '\u001b[31m', '\u202e', '\ufeff', '\ud83d', '\u{1f600}', 'e\u0301', '\u2028'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', '-0'],
  ...['0', '-1', '1e999', '9007199254740993', '1.5', '0x10', '99999999999999999999', 'true', '{}', '[]', '""'],
  ...[
    '../../etc/passwd',
    '/dev/zero',
    '.',
    '..',
    '%2e%2e%2f',
    '%00',
    '%',
    '%ff',
    '~/',
    'file:',
    'env:',
    'file:/dev/null',
  ],
  ...["'; echo x #", '$(id)', '`id`', '{{x}}', '{__raw__}', '{a.b.c}', '{event_type}', '{', '}', '{}', '{{'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what people write for a variable
  '${X}',
  ...['*', '**', '?', '[', '[a-z]', '(a+)+$', '(a|aa)+', '.*.*.*', '\\', '@everyone', '@org/team', '<!--', '```'],
  ...['INSECURE_NO_AUTH', '[SILENT]', '__hookwright_ignore__', 'http://[::1]:1/', 'http://a:b@c/', 'javascript:x'],
];
