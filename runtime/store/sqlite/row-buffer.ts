/** Rows of one table, gathered within a transaction: a statement for many of them costs a fraction of one for each. */
import type Database from 'libsql';

export type Value = string | number | null;

/** Rows of one statement, largest first. */
const SIZES = [16, 4, 1] as const;

export class RowBuffer {
  /** One row after the other. */
  private values: Value[] = [];
  private readonly statements = new Map<number, Database.Statement>();
  private readonly prepare: (size: number) => Database.Statement;
  private readonly width: number;

  /** @param into `INSERT INTO table (columns)`, of any kind */
  constructor(db: Database.Database, into: string, width: number) {
    this.width = width;
    const row = `(${Array(width).fill('?').join(', ')})`;
    this.prepare = (size) => db.prepare(`${into} VALUES ${Array(size).fill(row).join(', ')}`);
  }

  get size(): number {
    return this.values.length / this.width;
  }

  add(...row: readonly Value[]): void {
    for (const value of row) this.values.push(value);
  }

  /** Inserts what was gathered. */
  flush(): void {
    const { values, width } = this;
    this.values = [];
    let at = 0;
    for (const size of SIZES) {
      for (; values.length - at >= size * width; at += size * width) {
        this.statement(size).run(values.slice(at, at + size * width));
      }
    }
  }

  discard(): void {
    this.values = [];
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
