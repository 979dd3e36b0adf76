/** What a change works with inside its transaction. */
import type { PgConnection } from './driver.ts';

export interface Scope {
  readonly db: PgConnection;
  /** This gateway's row in `node`. */
  readonly node: number;
}
