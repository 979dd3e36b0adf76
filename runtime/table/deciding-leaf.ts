/** Finds the leaf that decided the result of a filter, for log lines and short reports. */
import type { FilterFinding } from './link-filter.ts';

export interface DecidingLeaf {
  /** Its path in the configuration, such as `filters[1].any[0]`; `filters` alone when that is a single leaf. */
  readonly at: string;
  readonly leaf: FilterFinding;
}

/**
 * The first leaf that explains the result: in an `all` that fails, the first member that fails; in an `any` that fails,
 * its first member. Null for a group without members.
 */
export function decidingLeaf(finding: FilterFinding, at = 'filters', top = true): DecidingLeaf | null {
  if (finding.of.length === 0) return finding.field === null ? null : { at, leaf: finding };
  if (finding.operator === 'not') return first(finding.of, `${at}.not`, finding);
  // The list under `filters` is an implicit `all`.
  return first(finding.of, top && finding.operator === 'all' ? at : `${at}.${finding.operator}`, finding);
}

function first(members: readonly FilterFinding[], at: string, { operator, holds }: FilterFinding): DecidingLeaf | null {
  if (operator === 'not') return members[0] === undefined ? null : decidingLeaf(members[0], at, true);
  const index = Math.max(
    0,
    members.findIndex((member) => member.holds === holds),
  );
  const member = members[index];
  return member === undefined ? null : decidingLeaf(member, `${at}[${index}]`, false);
}
