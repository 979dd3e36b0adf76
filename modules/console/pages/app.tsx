/** The pages of the console: one document, whose views are chosen by the part of the address after `#`. */
import type { JSX } from 'preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { login, whenSignedOut } from './api.ts';
import { Messages } from './parts/notify.tsx';
import { SignOut, WithRole } from './parts/role.tsx';
import './parts/unseen.ts';
import type { ViewPlace } from './parts/router.ts';
import { to, usePlace } from './parts/router.ts';
import { Head, Note } from './parts/ui.tsx';
import { Approval, Approvals } from './views/approvals.tsx';
import { Blueprint, Blueprints } from './views/blueprints.tsx';
import { Deliveries } from './views/deliveries.tsx';
import { Delivery } from './views/delivery.tsx';
import { Jobs } from './views/jobs.tsx';
import { Nodes } from './views/nodes.tsx';
import { Overview } from './views/overview.tsx';
import { Request } from './views/request.tsx';
import { Requests } from './views/requests.tsx';
import { Routes } from './views/routes.tsx';
import { Sessions } from './views/sessions.tsx';

type View = (place: ViewPlace, id: string) => JSX.Element;

/** By the first part of the path, in the order of the menu. `one`: of its second part. */
const VIEWS: Readonly<Record<string, { readonly title: string; readonly all: View; readonly one?: View }>> = {
  overview: { title: 'Overview', all: (place) => <Overview place={place} /> },
  requests: {
    ...{ title: 'Requests', all: (place: ViewPlace) => <Requests place={place} /> },
    one: (_place, id) => <Request key={id} id={id} />,
  },
  deliveries: {
    ...{ title: 'Deliveries', all: (place: ViewPlace) => <Deliveries place={place} /> },
    one: (_place, id) => <Delivery key={id} id={id} />,
  },
  routes: { title: 'Routes', all: () => <Routes /> },
  jobs: { title: 'Jobs', all: () => <Jobs /> },
  sessions: { title: 'Sessions', all: (place) => <Sessions place={place} /> },
  approvals: {
    ...{ title: 'Approvals', all: () => <Approvals /> },
    one: (_place, id) => <Approval key={id} id={id} />,
  },
  blueprints: {
    ...{ title: 'Blueprints', all: () => <Blueprints /> },
    one: (_place, id) => <Blueprint key={id} id={id} />,
  },
  nodes: { title: 'Nodes', all: () => <Nodes /> },
};

function App() {
  const place = usePlace();
  const [isSignedOut, setSignedOut] = useState(false);
  useEffect(() => whenSignedOut(() => setSignedOut(true)), []);
  if (isSignedOut) return <Login done={() => setSignedOut(false)} />;
  const [first = '', id = ''] = place.path;
  const name = first === '' ? 'overview' : first;
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  return (
    <WithRole>
      <div class="shell">
        <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
          To the content
        </button>
        <nav aria-label="Views">
          <strong>hookwright</strong>
          <ul>
            {Object.entries(VIEWS).map(([each, { title }]) => (
              <li key={each}>
                <a href={to([each])} aria-current={each === name ? 'page' : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
          <SignOut />
        </nav>
        <main id="main" tabIndex={-1} key={id === '' ? name : `${name}/${id}`}>
          {view === undefined ? (
            <Nothing />
          ) : id === '' || view.one === undefined ? (
            view.all(place, '')
          ) : (
            view.one(place, id)
          )}
        </main>
        <Messages />
      </div>
    </WithRole>
  );
}

const Nothing = () => (
  <>
    <Head title="Not here" />
    <p>There is no such view.</p>
  </>
);

const focus = (field: HTMLElement | null): void => field?.focus();

function Login({ done }: { done: () => void }) {
  const [error, setError] = useState<string | null>(null);
  const send = (event: Event & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token'));
    login(token).then(done, (reason: Error) => setError(reason.message));
  };
  return (
    <main class="login card">
      <h1>hookwright</h1>
      <form method="post" action="/login" onSubmit={send}>
        <p class="field">
          <label>
            Token of the console
            <input type="password" name="token" autoComplete="current-password" required ref={focus} />
          </label>
        </p>
        {error !== null && (
          <div role="alert">
            <Note kind="bad">{error}</Note>
          </div>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
