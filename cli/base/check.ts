/** One check of `hookwright doctor`, of which modules make some. */

export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Check {
  /** Profile it belongs to; null: the gateway as a whole. */
  readonly profile: string | null;
  /** Target or part of the gateway. */
  readonly subject: string;
  readonly check: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do; null when there is nothing to do. */
  readonly fix: string | null;
}

type Gateway = Omit<Check, 'profile' | 'fix'> & { readonly fix?: string };

export const gatewayCheck = ({ fix, ...check }: Gateway): Check => ({ profile: null, ...check, fix: fix ?? null });
