/** What other gateways see of a node (`gateway status --all`). The functions are called at each renewal of the lease. */
export interface NodeIdentity {
  /** URL of this gateway. */
  readonly url: () => string;
  /** Version of hookwright. */
  readonly version: string;
  /** Hash of the table in service. */
  readonly table: () => string | null;
  /** Why this node does not serve what the others serve; null when it does. */
  readonly problem: () => string | null;
}
