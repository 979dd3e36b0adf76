/** Binds a target plan to one profile's credentials. This is the only place that reads its secrets. */
import type { ProfilePlan, SecretRef, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { explainSecrets, SecretError, tryRead } from '../platform/secrets/secrets.ts';
import type { BoundTarget } from './driver.ts';
import { createRedact } from './redact/redact.ts';

/** A line break would end a header; no service's credentials hold one. */
const CONTROL = /\p{Cc}/u;

/**
 * @throws SecretError naming every setting whose reference cannot be resolved, that is required and missing, or whose value
 * the target cannot use.
 */
export function bindTarget(
  target: Pick<BoundTarget, 'profile' | 'plan' | 'binding'>,
  resolver: SecretResolver,
): BoundTarget {
  const { plan, binding } = target;
  const settings = new Map<string, string>();
  const secrets: string[] = [];
  const problems: string[] = [];
  const textOf = (setting: Setting): string | null => tryRead(() => read(setting, binding, resolver), problems);
  for (const setting of plan.settings) {
    const known = problems.length;
    const value = textOf(setting) ?? setting.default ?? '';
    if (problems.length > known) continue;
    if (value === '' && setting.required) problems.push(`${setting.name} must be set`);
    if (value === '') continue;
    if ((plan.driver === 'http' || plan.variants.length > 0) && setting.lines !== true && CONTROL.test(value)) {
      problems.push(`${setting.name} holds a line break or another control character`);
    }
    settings.set(setting.name, value);
    if (setting.secret) secrets.push(value);
  }
  const homeChannel = textOf({ name: 'home_channel', secret: false }) ?? binding.home_channel;
  const apiBase = textOf({ name: 'api_base', secret: false }) ?? binding.api_base;
  if (problems.length > 0) throw new SecretError(problems.join('; '));
  return { ...target, homeChannel, apiBase, settings, redact: createRedact(secrets) };
}

type Setting = Pick<TargetPlan['settings'][number], 'name' | 'secret'>;

/** The value of a credential or an option; null when neither is set. */
function read(setting: Setting, { credentials, options }: TargetBinding, resolver: SecretResolver): string | null {
  const ref = own(credentials, setting.name);
  if (ref !== undefined) return resolve(setting, ref, resolver);
  const option = own(options, setting.name);
  return option === undefined ? null : String(option);
}

/** Trims the value, because most files end in a line break. */
function resolve({ name, secret }: Setting, ref: SecretRef, resolver: SecretResolver): string {
  const read = (): string => resolver.resolve(ref, secret ? undefined : name).trim();
  return explainSecrets(read, (reason) => new SecretError(`${name}: ${reason}`));
}

function own<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Drivers whose targets are enabled in every profile. */
const ALWAYS_BOUND: readonly TargetPlan['driver'][] = ['log', 'local'];

const NO_BINDING: TargetBinding = {
  variant: null,
  home_channel: null,
  api_base: null,
  allow_http: false,
  credentials: {},
  options: {},
  retry_ambiguous: false,
  max_attempts: 1,
};

/** Null when the target is not enabled in this profile. */
export function bindingOf({ targets }: ProfilePlan, plan: TargetPlan): TargetBinding | null {
  const own = Object.hasOwn(targets, plan.name) ? targets[plan.name] : undefined;
  return own ?? (ALWAYS_BOUND.includes(plan.driver) ? NO_BINDING : null);
}
