/** What an address without a default usually is: fields of the payload where their events are known, else an example. */
import type { FormSet } from '../../shapes/form-set.ts';

interface UsualAddress {
  /** Paths into payloads, the most telling first. */
  readonly paths: readonly string[];
  /** For what has no payload, as a job. */
  readonly fixed: string;
}

const USUAL: Readonly<Record<string, UsualAddress>> = {
  repo: { paths: ['repository.full_name', 'project.path_with_namespace'], fixed: 'owner/name' },
  pr_number: { paths: ['number', 'pull_request.number', 'issue.number', 'object_attributes.iid'], fixed: '42' },
};

export interface Addresses {
  readonly values: Readonly<Record<string, string>>;
  /** Every event has these fields. */
  readonly isCertain: boolean;
}

/**
 * @param set forms of the payload; null: they are not known
 * @returns null: one of the fields is not a usual one
 */
export function usualAddresses(names: readonly string[], set: FormSet | null, inJob: boolean): Addresses | null {
  let isCertain = set !== null && !inJob;
  const values: Record<string, string> = {};
  for (const name of names) {
    const usual = Object.hasOwn(USUAL, name) ? USUAL[name] : undefined;
    if (usual === undefined) return null;
    const path = usual.paths.find((each) => set !== null && inAllForms(set, each));
    isCertain &&= path !== undefined;
    values[name] = inJob ? usual.fixed : `{${path ?? usual.paths[0]}}`;
  }
  return { values, isCertain };
}

const inAllForms = (set: FormSet, path: string): boolean =>
  set.find(path.split('.')).every((found) => found.kind === 'node' && !found.optional);
