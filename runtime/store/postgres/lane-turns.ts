/** Whose turn it is among lanes that have due rows: the one that this process has served longest ago. */

/** A lane with rows that are due, the earliest first. */
export interface DueLane<Row> {
  readonly name: string;
  /** How many may be taken from it. */
  readonly room: number;
  readonly rows: readonly Row[];
}

export class LaneTurns {
  private readonly served = new Map<string, number>();
  private takings = 0;

  /**
   * One row of each lane after the other, at most `limit`.
   * @param lanes those that were never served go by this order
   */
  choose<Row>(lanes: readonly DueLane<Row>[], limit: number): readonly Row[] {
    const turns = [...lanes].sort((a, b) => this.servedAt(a.name) - this.servedAt(b.name));
    const chosen: Row[] = [];
    for (let round = 0; chosen.length < limit; round++) {
      const open = turns.filter(({ rows, room }) => round < Math.min(rows.length, room));
      if (open.length === 0) break;
      for (const { rows } of open.slice(0, limit - chosen.length)) chosen.push(rows[round] as Row);
    }
    return chosen;
  }

  /** A row of the lane was taken. */
  serve(name: string): void {
    this.served.set(name, ++this.takings);
  }

  private servedAt(name: string): number {
    return this.served.get(name) ?? 0;
  }
}
