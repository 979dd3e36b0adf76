/**
 * A double of GitHub's REST interface on 127.0.0.1, written from its published description. It has the same checks,
 * responses and state. It signs nothing itself; it checks an app's tokens with the app's public key and its own clock.
 */
import type { KeyObject } from 'node:crypto';
import { createVerify } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Answer, FakeAnswer, FakeServer, SeenRequest } from './fake-http.ts';
import { startFakeHttp } from './fake-http.ts';

export interface FakeApp {
  readonly slug: string;
  readonly publicKey: KeyObject;
  /** Installation ids by repository owner. */
  readonly installations: Map<string, number>;
  readonly suspended: Set<number>;
}

export interface Post {
  readonly id: number;
  readonly repo: string;
  /** Its owner: the number of an issue, or a commit. */
  readonly of: string;
  readonly kind: 'comment' | 'issue' | 'review' | 'check';
  body: string;
  updatedAt: number;
  readonly login: string;
  readonly sent: Readonly<Record<string, unknown>>;
}

const REACTIONS = new Set(['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes']);

const message = (status: number, text: string): FakeAnswer => ({
  status,
  body: { message: text, documentation_url: 'https://docs.github.com/rest' },
});

export class FakeGitHub {
  /** By id. */
  readonly apps = new Map<string, FakeApp>();
  /** Logins by token. */
  readonly tokens = new Map<string, string>();
  readonly posts: Post[] = [];
  readonly labels = new Map<string, Set<string>>();
  /** Head commits of pull requests, and the last changes of issues, by `owner/repo#number`. */
  readonly heads = new Map<string, string>();
  /** The commits on the base branch that merged pull requests became. */
  readonly merged = new Map<string, string>();
  readonly changed = new Map<string, string>();
  /** Reactions by object: `owner/repo/issues/7`, `owner/repo/issues/comments/1001`. */
  readonly reactions = new Map<string, { readonly id: number; readonly content: string; readonly login: string }[]>();
  /** Every change of reactions, `+eyes <object>` or `-eyes <object>`. */
  readonly reacted: string[] = [];
  /** Statuses of commits, by name. */
  readonly statuses = new Map<string, { readonly state: string; readonly description: string }>();
  /** Responses to the next requests that post or replace something, in order; null: as usual. */
  readonly next: (((request: SeenRequest, usual: () => FakeAnswer) => Answer) | null)[] = [];
  /** Requests by method and path: `POST /app/installations/7/access_tokens`. */
  readonly counts = new Map<string, number>();
  /** Unix ms of its clock. */
  now: () => number;
  lifetimeMs = 3_600_000;
  server!: FakeServer;
  private readonly ends = new Map<string, { readonly until: number; readonly login: string; readonly owner: string }>();
  private last = 0;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  async start(t: Pick<TestContext, 'after'>): Promise<this> {
    this.server = await startFakeHttp(t, (request) => this.answer(request));
    return this;
  }

  get url(): string {
    return this.server.url;
  }

  count(pattern: RegExp): number {
    return [...this.counts].reduce((sum, [name, count]) => sum + (pattern.test(name) ? count : 0), 0);
  }

  revokeTokens(): void {
    this.ends.clear();
  }

  private answer(request: SeenRequest): Answer {
    const name = `${request.method} ${request.path}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const usual = (): FakeAnswer => {
      const { headers = {}, ...answered } = this.usual(request);
      return { ...answered, headers: { date: new Date(this.now()).toUTCString(), ...headers } };
    };
    if (request.method === 'GET' || request.path.startsWith('/app/')) return usual();
    const planned = this.next.shift() ?? null;
    return planned === null ? usual() : planned(request, usual);
  }

  private usual(request: SeenRequest): FakeAnswer {
    if (request.headers['user-agent'] === undefined) return message(403, 'Request forbidden by administrative rules.');
    const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
    const isJwt = token.split('.').length === 3;
    const parts = request.path.split('/').slice(1).map(decodeURIComponent);
    if (parts[0] === 'app' || parts[3] === 'installation')
      return isJwt ? this.asApp(token, parts) : message(401, 'A JSON web token could not be decoded');
    const held = this.ends.get(token);
    const login = this.tokens.get(token) ?? (held !== undefined && held.until > this.now() ? held.login : undefined);
    if (login === undefined) return message(401, 'Bad credentials');
    if (parts[0] === 'user')
      return held === undefined ? { body: { login, id: 1 } } : message(403, 'Resource not accessible by integration');
    const [first, owner = '', repo = '', ...rest] = parts;
    if (first !== 'repos' || repo === '' || owner === 'absent') return message(404, 'Not Found');
    if (held !== undefined && held.owner !== owner) return message(404, 'Not Found');
    return this.inRepository(`${owner}/${repo}`, rest, request, login, held !== undefined);
  }

  private asApp(jwt: string, parts: readonly string[]): FakeAnswer {
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    const { iat, exp, iss } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, number>;
    const app = this.apps.get(String(iss));
    const now = this.now() / 1000;
    const isSigned =
      app !== undefined &&
      createVerify('sha256').update(`${head}.${claims}`).verify(app.publicKey, Buffer.from(signature, 'base64url'));
    if (app === undefined || !isSigned) return message(401, 'A JSON web token could not be decoded');
    if (iat === undefined || iat > now)
      return message(
        401,
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      );
    if (exp === undefined || exp > now + 600)
      return message(401, "'Expiration time' claim ('exp') is too far in the future");
    if (exp < now)
      return message(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time");
    if (parts[0] === 'repos') {
      const id = app.installations.get(parts[1] ?? '');
      return id === undefined ? message(404, 'Not Found') : { body: { id, app_id: Number(iss), app_slug: app.slug } };
    }
    if (parts.length === 1) return { body: { id: Number(iss), slug: app.slug } };
    const id = Number(parts[2]);
    const [owner] = [...app.installations].find(([, each]) => each === id) ?? [];
    if (owner === undefined) return message(404, 'Not Found');
    if (app.suspended.has(id)) return message(403, 'This installation has been suspended');
    const token = `ghs_canary${String(++this.last).padStart(4, '0')}x${id}`;
    const until = this.now() + this.lifetimeMs;
    this.ends.set(token, { until, login: `${app.slug}[bot]`, owner });
    const expires_at = `${new Date(until).toISOString().slice(0, 19)}Z`;
    return { status: 201, body: { token, expires_at, permissions: { issues: 'write' } } };
  }

  private inRepository(
    repo: string,
    rest: readonly string[],
    request: SeenRequest,
    login: string,
    isApp: boolean,
  ): FakeAnswer {
    const [kind, of = '', what, which] = rest;
    const sent = (request.json ?? {}) as Record<string, unknown>;
    const { method } = request;
    const place = `${repo}#${of}`;
    const at = rest.indexOf('reactions');
    if (at > 0) return this.react(`${repo}/${rest.slice(0, at).join('/')}`, rest[at + 1], request, login);
    if (kind === 'statuses') {
      const { state, context, description } = sent as Record<string, string>;
      if (!['error', 'failure', 'pending', 'success'].includes(state ?? '')) return message(422, 'Validation Failed');
      this.statuses.set(`${of} ${context}`, { state: state ?? '', description: description ?? '' });
      return { status: 201, body: { id: 1, state, context } };
    }
    if (kind === 'pulls' && what === undefined && this.heads.has(place))
      return { body: { number: Number(of), head: { sha: this.heads.get(place) } } };
    if (kind === 'issues' && what === undefined && this.changed.has(place))
      return { body: { number: Number(of), updated_at: this.changed.get(place) } };
    if (kind === 'commits' && what === 'pulls') {
      const heads = [...this.heads].filter(([name]) => name.startsWith(`${repo}#`));
      return { body: heads.map(([name, sha]) => ({ head: { sha }, merge_commit_sha: this.merged.get(name) ?? null })) };
    }
    if (kind === 'issues' && of === '') {
      if (method === 'GET') return this.list((post) => post.repo === repo && post.kind === 'issue', request);
      if (typeof sent.title !== 'string' || sent.title === '') return message(422, 'Validation Failed');
      return this.post({ kind: 'issue', repo, of: '', body: String(sent.body ?? ''), login, sent });
    }
    if (kind === 'issues' && of === 'comments') {
      const post = this.posts.find(({ id, kind: each }) => each === 'comment' && String(id) === what);
      if (post === undefined) return message(404, 'Not Found');
      post.body = String(sent.body);
      post.updatedAt = this.now();
      return { body: this.shown(post) };
    }
    if (kind === 'issues' && what === 'comments') {
      if (method === 'GET')
        return this.list((post) => post.repo === repo && post.kind === 'comment' && post.of === of, request);
      if (typeof sent.body !== 'string' || sent.body.trim() === '') return message(422, 'Validation Failed');
      return this.post({ kind: 'comment', repo, of, body: sent.body, login, sent });
    }
    if (kind === 'issues' && what === 'labels') {
      if (!Array.isArray(sent.labels)) return message(422, 'Invalid request.');
      const labels = this.labels.get(`${repo}#${of}`) ?? new Set();
      for (const label of sent.labels as string[]) labels.add(label);
      this.labels.set(`${repo}#${of}`, labels);
      return { body: [...labels].map((name) => ({ id: 1, name })) };
    }
    if (kind === 'pulls' && what === 'reviews') {
      if (method === 'GET') return this.list((post) => post.kind === 'review' && post.of === of, request);
      return this.post({ kind: 'review', repo, of, body: String(sent.body ?? ''), login, sent }, 200);
    }
    if (kind === 'check-runs') {
      if (!isApp) return message(403, 'You must authenticate via a GitHub App.');
      return this.post({ kind: 'check', repo, of: String(sent.head_sha), body: '', login, sent });
    }
    if (kind === 'commits' && what === 'check-runs' && which === undefined) {
      const found = this.posts.filter((post) => post.kind === 'check' && post.of === of);
      return { body: { total_count: found.length, check_runs: found.map((post) => this.shown(post)) } };
    }
    return message(404, 'Not Found');
  }

  /** The same reaction of one account is there once; only its own can be removed. */
  private react(object: string, id: string | undefined, request: SeenRequest, login: string): FakeAnswer {
    const all = this.reactions.get(object) ?? [];
    this.reactions.set(object, all);
    const shown = (one: (typeof all)[number]) => ({ id: one.id, content: one.content, user: { login: one.login } });
    if (request.method === 'GET') {
      const [size, page] = [Number(request.query.get('per_page')), Number(request.query.get('page'))];
      return { body: all.slice((page - 1) * size, page * size).map(shown) };
    }
    if (request.method === 'DELETE') {
      const index = all.findIndex((one) => String(one.id) === id);
      const [removed] = index < 0 ? [] : all.splice(index, 1);
      if (removed === undefined) return message(404, 'Not Found');
      if (removed.login !== login) return message(403, 'Forbidden');
      this.reacted.push(`-${removed.content} ${object}`);
      return { status: 204 };
    }
    const { content = '' } = request.json as { content?: string };
    if (!REACTIONS.has(content)) return message(422, 'Validation Failed');
    const there = all.find((one) => one.content === content && one.login === login);
    if (there !== undefined) return { body: shown(there) };
    const made = { id: ++this.last, content, login };
    all.push(made);
    this.reacted.push(`+${content} ${object}`);
    return { status: 201, body: shown(made) };
  }

  private list(fits: (post: Post) => boolean, { query }: SeenRequest): FakeAnswer {
    const size = Math.min(Number(query.get('per_page') ?? 30), 100);
    const page = Number(query.get('page') ?? 1);
    const since = query.get('since');
    if (since !== null && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(since)) return message(422, 'Invalid since');
    const from = since === null ? 0 : Date.parse(since);
    const all = this.posts.filter((post) => fits(post) && post.updatedAt >= from);
    return { body: all.slice((page - 1) * size, page * size).map((post) => this.shown(post)) };
  }

  private post(post: Omit<Post, 'id' | 'updatedAt'>, status = 201): FakeAnswer {
    const made: Post = { ...post, id: 1000 + this.posts.length, updatedAt: this.now() };
    this.posts.push(made);
    return { status, body: this.shown(made) };
  }

  private shown({ id, repo, of, kind, body, login, sent }: Post): Record<string, unknown> {
    const html_url = `https://github.com/${repo}/${kind}/${of}#${id}`;
    return {
      id,
      number: id,
      html_url,
      body,
      user: { login },
      external_id: sent.external_id ?? null,
      name: sent.name ?? null,
    };
  }
}
