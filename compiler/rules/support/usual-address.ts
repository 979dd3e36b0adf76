/** Usual values of addresses without a default: payload fields if the events are known, else an example. */
import type { FormSet } from '../../../modules/payloads/compiler/shapes/form-set.ts';

interface UsualAddress {
  /** Payload paths, best first. */
  readonly paths: readonly string[];
  /** An example for jobs, which have no payload. */
  readonly fixed: string;
}

const USUAL: Readonly<Record<string, UsualAddress>> = {
  repo: { paths: ['repository.full_name', 'project.path_with_namespace'], fixed: 'owner/name' },
  pr_number: { paths: ['number', 'pull_request.number', 'issue.number', 'object_attributes.iid'], fixed: '42' },
};

export interface Addresses {
  readonly values: Readonly<Record<string, string>>;
  /** Whether every event has these fields. */
  readonly isCertain: boolean;
}

/**
 * @param set the possible event forms; null if unknown
 * @returns null if there is no usual value for one of the fields
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
