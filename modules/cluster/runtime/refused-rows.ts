/** Records invalid rows of the database, which are ignored: for `gateway status`, `/readyz` and `doctor`. */

export class RefusedRows {
  private readonly problems = new Map<string, string>();

  get all(): readonly string[] {
    return [...this.problems.values()];
  }

  /** Replaces the report about these rows. @param problem null: all of them are valid */
  note(rows: 'jobs' | 'subscriptions', problem: string | null): void {
    if (problem === null) this.problems.delete(rows);
    else this.problems.set(rows, problem);
  }
}
