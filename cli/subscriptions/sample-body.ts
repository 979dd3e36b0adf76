/** Writes the sample payload of a test event in the form that the sender sends: JSON, a form, text or XML. */
import { isPlainMap } from '../../compiler/text/plain-map.ts';
import type { SchemePlan } from '../../schemas/generated/types.ts';

type Sample = Readonly<Record<string, unknown>>;

/** Senders such as Twilio sign the fields of a form. */
export const signsForms = ({ signed, body }: SchemePlan): boolean =>
  body === 'form' || signed.some(({ kind }) => kind === 'params');

/** @param scheme null: the event is not signed */
export function sampleBody(sample: Sample, scheme: SchemePlan | null, event: string | null): string {
  if (scheme !== null && signsForms(scheme)) {
    const fields = Object.entries({ Test: 'true', ...sample }).map(([key, value]): [string, string] => [
      key,
      String(value),
    ]);
    return String(new URLSearchParams(fields));
  }
  if (scheme?.body === 'text') return typeof sample.text === 'string' ? sample.text : 'a test event';
  if (scheme?.body === 'xml') return printDocument(sample);
  return JSON.stringify({ ...(event === null ? {} : { event_type: event }), test: true, ...sample });
}

const TYPES: Readonly<Record<NonNullable<SchemePlan['body']>, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
  xml: 'application/xml',
};

export const contentType = ({ body = 'json' }: SchemePlan, isForm: boolean): string => TYPES[isForm ? 'form' : body];

/** A document has a single root: the first element that the route reads. */
function printDocument(sample: Sample): string {
  const [root] = Object.entries(sample);
  return printElement(...(root ?? ['event', { test: true }]));
}

/** The inverse of `parseXml`: a list is a repeated element, and `text` is the text beside other elements. */
function printElement(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => printElement(name, each)).join('');
  const inner = isPlainMap(value)
    ? Object.entries(value)
        .map(([key, each]) => (key === 'text' ? escapeText(String(each)) : printElement(key, each)))
        .join('')
    : escapeText(String(value));
  return `<${name}>${inner}</${name}>`;
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
