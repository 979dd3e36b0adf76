/** Lowers the headers of `platforms.http`: each is a setting of the target, so that references are resolved like other credentials. */
import type { HttpTargetConfig, NamedTemplate, SettingPlan } from '../../../schemas/generated/types.ts';
import { HEADER_SETTING } from '../../config/target-entries.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { parseSecretRef } from '../../text/secret-ref.ts';
import { headerProblem } from '../target/request.ts';
import type { ReportValue } from './value.ts';
import { valueRef } from './value.ts';

export const headerSetting = (name: string, value: string): SettingPlan => {
  const secret = isSecretName(name) || parseSecretRef(value, '').kind !== 'literal';
  return { name: HEADER_SETTING + name, aliases: [], secret, required: false, default: null, pattern: null };
};

const SIGNED = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'traceparent', 'tracestate'];

export function lowerEndpointHeaders({ headers = {} }: HttpTargetConfig, report: ReportValue): NamedTemplate[] {
  const seen = new Set<string>();
  return Object.entries(headers).map(([written, value]) => {
    const name = written.toLowerCase();
    const why = SIGNED.includes(name) ? `\`${name}\` is set by hookwright` : headerProblem(name);
    if (why !== null) report(['headers', written], why, { at: 'key' });
    else if (seen.has(name)) report(['headers', written], `\`${name}\` is set twice`, { at: 'key' });
    else if (/\{[a-z][\w.]*\??\}/i.test(value))
      report(['headers', written], 'a header holds no placeholders: put the value into `url` or `body`');
    seen.add(name);
    return {
      name,
      value: [{ ...valueRef('setting', HEADER_SETTING + written), secret: headerSetting(written, value).secret }],
    };
  });
}
