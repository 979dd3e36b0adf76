/** The pull request or issue that a comment goes to, read from a payload's values for the `forgea_comment` target. */
import type { DeliveryRequest } from '../deliverer.ts';

const OWNER = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]+)?$/;
const REPOSITORY = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
const NUMBER = /^[1-9][0-9]{0,9}$/;

export interface CommentPlace {
  /** `OWNER/REPOSITORY`. */
  readonly repo: string;
  readonly number: string;
}

/** Checks the values strictly, because they become arguments of `gh`; a string says what is wrong. */
export function readCommentPlace({
  extra,
  unresolved,
}: Pick<DeliveryRequest, 'extra' | 'unresolved'>): CommentPlace | string {
  for (const name of ['repo', 'pr_number']) {
    if (unresolved.includes(name)) return `deliver_extra.${name} holds a placeholder that the payload did not resolve`;
    if (!Object.hasOwn(extra, name)) return `deliver_extra.${name} is missing`;
  }
  const [owner = '', name = '', ...more] = (extra.repo ?? '').split('/');
  if (!OWNER.test(owner) || !REPOSITORY.test(name) || more.length > 0)
    return 'deliver_extra.repo is not OWNER/REPOSITORY';
  if (!NUMBER.test(extra.pr_number ?? '')) return 'deliver_extra.pr_number is not a number';
  return { repo: `${owner}/${name}`, number: extra.pr_number ?? '' };
}
