/** Lowers the body of `platforms.http`: JSON, a text, or a CloudEvent. */
import { tryParseJson } from '../../../base/try-parse-json.ts';
import type {
  BodyNode,
  BodyPlan,
  HttpTargetConfig,
  NamedTemplate,
  ValueSegment,
} from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { didYouMean, oneOf } from '../../text/suggest.ts';
import type { ReportValue } from './value.ts';
import { ALL_VALUES, TEXT_VALUES, valueRef } from './value.ts';

interface Content {
  readonly plan: BodyPlan;
  readonly headers: NamedTemplate[];
}

const USUAL = { text: '{text}', route: '{route}', delivery_id: '{delivery_id}' };

const CLOUD_EVENT = {
  specversion: '1.0',
  id: '{key}',
  source: '/hookwright/{route}',
  type: 'hookwright.delivery',
  time: '{time}',
  datacontenttype: 'application/json',
  data: USUAL,
};

/** @param fields of the address that the URL names; the body may repeat them */
export function lowerEndpointBody(
  { body = USUAL, headers = {} }: HttpTargetConfig,
  fields: readonly string[],
  report: ReportValue,
): Content {
  const texts: Texts = { report, values: [...TEXT_VALUES, ...fields] };
  if (body === 'cloudevents') {
    const type: NamedTemplate = {
      name: 'content-type',
      value: [{ kind: 'text', text: 'application/cloudevents+json' }],
    };
    const values = [...TEXT_VALUES, 'key', 'time'];
    return { plan: { kind: 'json', node: lowerJson(CLOUD_EVENT, [], { ...texts, values }) }, headers: [type] };
  }
  const read = typeof body === 'string' ? tryParseJson(body) : body;
  if (typeof read === 'object' && read !== null) {
    const path = typeof body === 'string' ? null : ['body'];
    return { plan: { kind: 'json', node: lowerJson(read, path, texts) }, headers: [] };
  }
  const text = String(body);
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (/json/i.test(type) || /^\s*(?:\{\s*["}]|\[)/.test(text)) {
    const hint = 'a placeholder stands within the quotation marks of a text: `{"summary": "{text}"}`';
    report(['body'], 'the body is not JSON', { hint });
  }
  return { plan: { kind: 'plain', value: lowerTexts(text, ['body'], texts) }, headers: [] };
}

interface Texts {
  readonly report: ReportValue;
  /** Names that may stand in braces. */
  readonly values: readonly string[];
}

/** @param path of the value; null: the JSON stands in a text, and so does every place in it */
function lowerJson(value: unknown, path: NodePath | null, texts: Texts): BodyNode {
  const below = (key: string | number): NodePath | null => (path === null ? null : [...path, key]);
  if (typeof value === 'string') {
    const segments = lowerTexts(value, path ?? ['body'], texts);
    const fixed = segments.every(({ kind }) => kind === 'text');
    return fixed ? { kind: 'literal', value } : { kind: 'text', value: segments, cast: 'string' };
  }
  if (Array.isArray(value))
    return { kind: 'array', items: value.map((item: unknown, at) => lowerJson(item, below(at), texts)) };
  if (!isPlainMap(value)) return { kind: 'literal', value: value as string | number | boolean | null };
  const fields = Object.entries(value).map(([name, node]) => ({ name, node: lowerJson(node, below(name), texts) }));
  return { kind: 'object', when: null, fields };
}

function lowerTexts(text: string, path: NodePath, { values, report }: Texts): ValueSegment[] {
  return text.split(/\{([A-Za-z_][\w.-]*)\}/).flatMap((part, index): ValueSegment[] => {
    if (index % 2 === 0) return part === '' ? [] : [{ kind: 'text', text: part }];
    if (!values.includes(part)) {
      const known = `the values are ${oneOf(values, 'and')}, and what \`url\` has in braces`;
      report(path, `\`{${part}}\` is unknown: ${known}${didYouMean(part, values)}`);
    }
    const of = ALL_VALUES.find((value) => value === part);
    return [of === undefined ? valueRef('address', part) : valueRef(of)];
  });
}
