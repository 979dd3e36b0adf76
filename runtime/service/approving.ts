/** What asks people for approvals: opened with the first table, or the first delivery, that needs one. */
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Approvals, ApprovingContext } from '../dispatch/approving.ts';
import type { RuntimePart } from '../module.ts';
import { TableError } from '../table/load.ts';

export class Approving {
  private readonly modules: readonly RuntimePart[];
  private readonly context: ApprovingContext;
  private opening: Promise<Approvals> | null = null;

  constructor(modules: readonly RuntimePart[], context: ApprovingContext) {
    this.modules = modules;
    this.context = context;
  }

  /** Rejects with TableError when no module asks for approvals. */
  async prepare(table: RouteTable): Promise<void> {
    if (table.gateway.approvals !== undefined || needsApproval(table)) await this.open();
  }

  /** A delivery waits for a person. */
  asked(): void {
    this.open().then(
      (approvals) => approvals.changed(),
      (error: unknown) => this.context.log.error({ err: error }, 'nobody is asked for an approval'),
    );
  }

  async close(): Promise<void> {
    await (await this.opening?.catch(() => null))?.close();
  }

  private open(): Promise<Approvals> {
    this.opening ??= this.load();
    return this.opening;
  }

  private async load(): Promise<Approvals> {
    const load = this.modules.find(({ approvals }) => approvals)?.approvals;
    if (load === undefined) throw new TableError('no module of this program asks for approvals');
    return (await load())(this.context);
  }
}

function needsApproval({ routes, jobs }: RouteTable): boolean {
  const owners = [...Object.values(routes), ...Object.values(jobs)];
  const all = owners.flatMap(({ deliver, outputs = [] }) => [...deliver, ...outputs.map(({ delivery }) => delivery)]);
  return all.some(({ approve_ms }) => approve_ms !== undefined);
}
