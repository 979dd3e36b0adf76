/** How a node shows to the others (`gateway status --all`). */
export interface NodeIdentity {
  /** Where this gateway is reached; read, like the others, at each renewal of the lease. */
  readonly url: () => string;
  /** Version of this program. */
  readonly version: string;
  /** Hash of the table in service. */
  readonly table: () => string | null;
  /** What keeps this node from serving what the others serve; null: nothing. */
  readonly problem: () => string | null;
}
