/** A double of GitLab's REST interface on 127.0.0.1, written from its published description. */
import type { TestContext } from 'node:test';
import type { Answer, FakeAnswer, FakeServer, SeenRequest } from './fake-http.ts';
import { startFakeHttp } from './fake-http.ts';

export interface Note {
  readonly id: number;
  readonly username: string;
  body: string;
}

const message = (status: number, text: string): FakeAnswer => ({ status, body: { message: text } });

export class FakeGitLab {
  /** User names by token. */
  readonly tokens = new Map<string, string>();
  /** By `group/project!7` or `group/project#7`. */
  readonly notes = new Map<string, Note[]>();
  readonly labels = new Map<string, string[]>();
  /** Head commits and last changes, by place. */
  readonly objects = new Map<
    string,
    { readonly sha?: string | null; readonly squash_commit_sha?: string; readonly updated_at?: string }
  >();
  readonly statuses: Record<string, unknown>[] = [];
  /** Quick actions that a note would have executed. */
  readonly actions: string[] = [];
  /** Responses to the next requests that change something; null: as usual. */
  readonly next: (((request: SeenRequest, usual: () => FakeAnswer) => Answer) | null)[] = [];
  server!: FakeServer;
  private last = 100;

  async start(t: Pick<TestContext, 'after'>): Promise<this> {
    this.server = await startFakeHttp(t, (request) => {
      const usual = (): FakeAnswer => this.usual(request);
      const planned = request.method === 'GET' ? null : (this.next.shift() ?? null);
      return planned === null ? usual() : planned(request, usual);
    });
    return this;
  }

  get url(): string {
    return `${this.server.url}/api/v4`;
  }

  private usual(request: SeenRequest): FakeAnswer {
    const username = this.tokens.get(String(request.headers['private-token'] ?? ''));
    if (username === undefined) return message(401, '401 Unauthorized');
    const [, , , first, project = '', ...rest] = request.path.split('/').map(decodeURIComponent);
    if (first === 'user') return { body: { id: 1, username } };
    if (first !== 'projects' || !/^group\/|^\d+$/.test(project)) return message(404, '404 Project Not Found');
    const [kind, of = '', what, id] = rest;
    const sent = (request.json ?? {}) as Record<string, string>;
    if (kind === 'statuses') return this.status(of, sent);
    const place = `${project}${kind === 'issues' ? '#' : '!'}${of}`;
    if (kind === 'repository') return { body: [...this.objects.values()] };
    if (what === undefined && request.method === 'GET')
      return this.objects.has(place) ? { body: this.objects.get(place) } : message(404, '404 Not Found');
    if (what === undefined && request.method === 'PUT') {
      const labels = new Set([...(this.labels.get(place) ?? []), ...(sent.add_labels ?? '').split(',')]);
      this.labels.set(place, [...labels]);
      return { body: { id: 9, iid: Number(of), labels: [...labels] } };
    }
    if (what !== 'notes') return message(404, '404 Not Found');
    const notes = this.notes.get(place) ?? [];
    this.notes.set(place, notes);
    const shown = ({ id, body, username }: Note) => ({ id, body, author: { id: 1, username }, system: false });
    if (request.method === 'GET') {
      const size = Math.min(Number(request.query.get('per_page') ?? 20), 100);
      const page = Number(request.query.get('page') ?? 1);
      const sorted = request.query.get('sort') === 'asc' ? notes : [...notes].reverse();
      return { body: sorted.slice((page - 1) * size, page * size).map(shown) };
    }
    const body = sent.body ?? '';
    if (body.trim() === '') return { status: 400, body: { message: { note: ["can't be blank"] } } };
    this.actions.push(...(body.replaceAll('\r', '').match(/^\/[a-z_]+/gim) ?? []));
    if (request.method === 'PUT') {
      const note = notes.find((each) => String(each.id) === id);
      if (note === undefined) return message(404, '404 Note Not Found');
      note.body = body;
      return { body: shown(note) };
    }
    const note = { id: ++this.last, username, body };
    notes.push(note);
    return { status: 201, body: shown(note) };
  }

  private status(sha: string, sent: Record<string, string>): FakeAnswer {
    const before = this.statuses.findLast((each) => each.sha === sha && each.name === sent.name);
    if (before?.state === 'success' && sent.state === 'success')
      return message(
        400,
        'Cannot transition status via :succeed from :success (Reason(s): Status cannot transition via "succeed")',
      );
    this.statuses.push({ sha, ...sent });
    return { status: 201, body: { id: this.statuses.length, sha, status: sent.state } };
  }
}
