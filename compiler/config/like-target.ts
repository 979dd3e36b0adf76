/** Completes target files that are `like` another: what they do not say of the service is said there. */
import type { TargetFile } from '../../schemas/generated/types.ts';

/** What the other file says of the service and of access to it; the rest is about what is posted. */
const OF_SERVICE = [
  'settings',
  'base',
  'headers',
  'check',
  'login',
  'error_code',
  'outcomes',
  'retry_after',
  'pacing',
  'timeout_seconds',
  'max_response_bytes',
] as const satisfies readonly (keyof TargetFile)[];

/** A file whose `like` names none of the others is left as it is, which the lowering reports. */
export function completeTarget(file: TargetFile, fileNamed: (name: string) => TargetFile | undefined): TargetFile {
  const other = file.like === undefined ? undefined : fileNamed(file.like);
  if (other === undefined || other.like !== undefined) return file;
  const completed: Record<string, unknown> = {};
  for (const part of OF_SERVICE) if (other[part] !== undefined) completed[part] = other[part];
  const names = Object.keys(file.variants ?? other.variants ?? {});
  const variants = names.map((name) => [name, { ...other.variants?.[name], ...file.variants?.[name] }] as const);
  return {
    ...(completed as Partial<TargetFile>),
    ...file,
    ...(names.length === 0 ? {} : { variants: Object.fromEntries(variants) }),
  };
}
