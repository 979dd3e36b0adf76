/** Completes target files that are `like` another: what they do not say of the service is said there. */
import type { TargetFile } from '../../schemas/generated/types.ts';
import { SERVICE_PARTS } from './target-parts.ts';

/** A file whose `like` names none of the others is left as it is, which the lowering reports. */
export function completeTarget(file: TargetFile, fileNamed: (name: string) => TargetFile | undefined): TargetFile {
  const other = file.like === undefined ? undefined : fileNamed(file.like);
  if (other === undefined || other.like !== undefined) return file;
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
