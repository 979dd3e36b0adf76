/** Rows of one table, gathered within a transaction: a statement for many of them costs a fraction of one for each. */
import type Database from 'libsql';

export type Value = string | number | null;

/** Rows of one statement, largest first. */
const SIZES = [16, 4, 1] as const;

export class RowBuffer {
  private rows: (readonly Value[])[] = [];
  private readonly statements = new Map<number, Database.Statement>();
  private readonly prepare: (size: number) => Database.Statement;

  /**
   * @param into `INSERT INTO table (columns)`, of any kind
   * @param onConflict what follows the values
   */
  constructor(db: Database.Database, into: string, width: number, onConflict = '') {
    const row = `(${Array(width).fill('?').join(', ')})`;
    this.prepare = (size) => db.prepare(`${into} VALUES ${Array(size).fill(row).join(', ')} ${onConflict}`);
  }

  get size(): number {
    return this.rows.length;
  }

  add(row: readonly Value[]): void {
    this.rows.push(row);
  }

  /** Inserts what was gathered; answers how many rows were inserted or replaced. @param last values of `onConflict` */
  flush(last: readonly Value[] = []): number {
    const { rows } = this;
    this.rows = [];
    let changes = 0;
    let at = 0;
    for (const size of SIZES) {
      for (; rows.length - at >= size; at += size) {
        const values = rows.slice(at, at + size).flat();
        changes += this.statement(size).run([...values, ...last]).changes;
      }
    }
    return changes;
  }

  discard(): void {
    this.rows = [];
  }

  private statement(size: number): Database.Statement {
    let statement = this.statements.get(size);
    if (statement === undefined) {
      statement = this.prepare(size);
      this.statements.set(size, statement);
    }
    return statement;
  }
}
