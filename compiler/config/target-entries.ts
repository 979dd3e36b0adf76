/** The targets that a config configures, and the parts of a target file that several steps read. */
import type {
  HttpTargetConfig,
  ProfileConfig,
  RequestPlan,
  TargetAddressField,
  TargetBinding,
  TargetConfig,
  TargetContentField,
  TargetFile,
  TargetPlan,
  TargetSetting,
  TargetVariant,
  ValueRef,
} from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { COMMON_KEYS as KEYS, SERVICE_PARTS, DELIVERY_VALUES as VALUES, VARIANT_PARTS } from './built/key-lists.ts';

/** Keys that all targets have; the others are settings of the target. */
export const COMMON_KEYS: readonly string[] = KEYS;

/** The target of `platforms.http`, whose entry has its own form. */
export const HTTP_TARGET = 'http';

/** Headers of that entry are settings of the target with this prefix. */
export const HEADER_SETTING = 'headers.';

/** The entries under `platforms`, by their names as written. The default profile's do not include `webhook`. */
export function targetEntries(config: ProfileConfig): readonly (readonly [string, TargetConfig])[] {
  return Object.entries(config.platforms ?? {}).flatMap(([name, entry]) => {
    if (entry === undefined) return [];
    return [[name, name === HTTP_TARGET ? flatEntry(entry as HttpTargetConfig) : (entry as TargetConfig)] as const];
  });
}

export const httpEntry = ({ platforms }: ProfileConfig): HttpTargetConfig | undefined => platforms?.http;

/** Converts a path in an entry to a path in the config. */
export const platformPath = (entry: string, [setting, ...rest]: NodePath): NodePath =>
  typeof setting === 'string' && setting.startsWith(HEADER_SETTING)
    ? ['platforms', entry, 'headers', setting.slice(HEADER_SETTING.length), ...rest]
    : ['platforms', entry, ...(setting === undefined ? [] : [setting, ...rest])];

/** The entry without its body, which is not a setting. */
function flatEntry({ headers = {}, body: _, ...entry }: HttpTargetConfig): TargetConfig {
  const named = Object.entries(headers).map(([name, value]) => [HEADER_SETTING + name, value] as const);
  return { ...entry, ...Object.fromEntries(named) };
}

type SharedPart = keyof TargetVariant & keyof TargetFile;

/** Parts that a target may define once for all its variants. */
export const SHARED_PARTS = [...SERVICE_PARTS, ...VARIANT_PARTS] as const satisfies readonly SharedPart[];

/** The names that texts of a target file may use, and the parts of a request that the texts belong to. */
export interface TextScope {
  readonly settings: Readonly<Record<string, TargetSetting>>;
  readonly address: Readonly<Record<string, TargetAddressField>>;
  readonly content: Readonly<Record<string, TargetContentField>>;
  /** Named groups of the patterns of the address, and of the request's `when.chat_id`. */
  readonly groups: readonly string[];
  readonly has: { readonly exchange: boolean; readonly signature: boolean; readonly jwt: boolean };
}

/**
 * The part of a request that a text belongs to. Host and headers may not use values of a delivery, so no payload can
 * influence them. Paths may use addresses, each encoded within its segment, but not the delivery's text.
 */
export type TextPlace = 'base' | 'basic' | 'header' | 'path' | 'content' | 'signature' | 'exchange' | 'installation';

/** Names that refer to values of the delivery itself. */
export const DELIVERY_VALUES = VALUES satisfies readonly ValueRef['of'][];

/** Names that settings and address fields may not have. */
export const RESERVED_VALUES: readonly string[] = [...DELIVERY_VALUES, 'match'];

/** A file with an unknown `like` has no settings, so that the lowering reports it. */
export function completeTarget(file: TargetFile, beside: ReadonlyMap<string, TargetFile>): TargetFile {
  const other = file.like === undefined ? undefined : beside.get(file.like);
  const { settings: _, ...bare } = file;
  if (other === undefined || other.like !== undefined) return file.like === undefined ? file : bare;
  const completed: Record<string, unknown> = {};
  for (const part of ['settings', ...SERVICE_PARTS] as const)
    if (other[part] !== undefined) completed[part] = other[part];
  const names = Object.keys(file.variants ?? other.variants ?? {});
  const variants = names.map((name) => [name, { ...other.variants?.[name], ...file.variants?.[name] }] as const);
  return {
    ...(completed as Partial<TargetFile>),
    ...file,
    ...(names.length === 0 ? {} : { variants: Object.fromEntries(variants) }),
  };
}

/** @param inThread whether the delivery names a thread, which some services accept instead of a chat */
export function needsChat(plan: TargetPlan, binding: TargetBinding, inThread: boolean): boolean {
  const variant = plan.variants.find(({ name }) => name === binding.variant);
  if (variant === undefined) return plan.address.some(({ name }) => name === 'chat_id');
  const forms = variant.requests.filter(({ thread }) => thread === null || thread === inThread);
  return !forms.some((request) => !namesChat(request));
}

function namesChat(request: RequestPlan): boolean {
  if (request.chat_id !== null) return true;
  return valueRefs(request).some(({ of, name, optional }) => of === 'address' && name === 'chat_id' && !optional);
}

/** All value references in a request plan. */
function valueRefs(node: unknown): ValueRef[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('kind' in node && node.kind === 'value') return [node as ValueRef];
  return Object.values(node).flatMap(valueRefs);
}
