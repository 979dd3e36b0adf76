/** The pages of the console: one document. The part of the address after `#` selects the view. */
import type { FunctionComponent } from 'preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { login, whenSignedOut } from './api.ts';
import { useDead, useGateway, WithGateway } from './parts/gateway.tsx';
import type { IconName } from './parts/icons.tsx';
import { Icon } from './parts/icons.tsx';
import { Messages } from './parts/notify.tsx';
import { Role, useName, WithRole } from './parts/role.tsx';
import './parts/unseen.ts';
import type { ViewProps } from './parts/router.ts';
import { to, usePlace } from './parts/router.ts';
import { Field, Form, Head } from './parts/ui.tsx';
import { Approvals, ApprovalView } from './views/approvals.tsx';
import { Blueprint, Blueprints } from './views/blueprints.tsx';
import { Deliveries } from './views/deliveries.tsx';
import { DeliveryView, RequestView } from './views/event.tsx';
import { Jobs, JobView } from './views/jobs.tsx';
import { Nodes } from './views/nodes.tsx';
import { Overview } from './views/overview.tsx';
import { Requests } from './views/requests.tsx';
import { Routes, RouteView } from './views/routes.tsx';
import { Sessions } from './views/sessions.tsx';

type View = FunctionComponent<ViewProps>;

/** Views by title, in menu order. The title in lower case is the first part of the path; `one` shows a single item by id. */
const VIEWS: Readonly<Record<string, readonly [all: View, one?: View]>> = {
  Overview: [Overview],
  Requests: [Requests, RequestView],
  Deliveries: [Deliveries, DeliveryView],
  Approvals: [Approvals, ApprovalView],
  Routes: [Routes, RouteView],
  Jobs: [Jobs, JobView],
  Sessions: [Sessions],
  Blueprints: [Blueprints, Blueprint],
  Nodes: [Nodes],
};

function App() {
  const place = usePlace();
  const [isSignedOut, setSignedOut] = useState(false);
  useEffect(() => whenSignedOut(() => setSignedOut(true)), []);
  return (
    <>
      {isSignedOut ? <Login done={() => setSignedOut(false)} /> : <Shell place={place} />}
      <Messages place={`${place.path.join('/')}`} />
    </>
  );
}

function Shell({ place }: Pick<ViewProps, 'place'>) {
  const [name = '', id = ''] = place.path;
  const titles = Object.keys(VIEWS).map((title) => [title, title.toLowerCase()] as const);
  const [title = ''] = titles.find(([, path]) => path === (name || 'overview')) ?? [];
  const [All = NotFound, One = All] = VIEWS[title] ?? [];
  const Shown = id === '' ? All : One;
  return (
    <WithRole>
      <WithGateway>
        <div class="shell">
          <button type="button" class="hidden skip" onClick={() => document.getElementById('main')?.focus()}>
            Skip to content
          </button>
          <Menu titles={titles} current={title} />
          <main id="main" tabIndex={-1} key={`${name}/${id}`}>
            <Shown place={place} id={id} />
          </main>
        </div>
      </WithGateway>
    </WithRole>
  );
}

type MenuProps = { titles: readonly (readonly [title: string, path: string])[]; current: string };

/** A column; on a small screen a bar with the first entries, which scrolls, and a button that shows all of them. */
function Menu({ titles, current }: MenuProps) {
  const { data } = useGateway();
  const counts: Readonly<Record<string, number>> = {
    overview: data?.needs.length ?? 0,
    deliveries: useDead()(),
    approvals: data?.needs.find(({ kind }) => kind === 'approval')?.count ?? 0,
  };
  const [isOpen, setOpen] = useState(false);
  const name = useName();
  useEffect(() => setOpen(false), [current]);
  return (
    <nav aria-label="Views">
      <strong>
        <Icon of="logo" /> <span class="clip">{name}</span>
      </strong>
      <ul class={isOpen ? 'open' : ''}>
        {titles.map(([each, path]) => (
          <li key={path}>
            <a href={to([path])} aria-current={each === current ? 'page' : undefined}>
              <Icon of={path as IconName} /> {each}
              {(counts[path] ?? 0) > 0 && (
                <span class="count" aria-hidden="true">
                  {counts[path]}
                </span>
              )}
            </a>
          </li>
        ))}
        <li>
          <Role />
        </li>
      </ul>
      <button type="button" class="more" aria-label="All views" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon of="menu" />
      </button>
    </nav>
  );
}

const NotFound = () => <Head title="This page does not exist" />;

const TOKEN = 'Your token is in gateway.console of the configuration: token, viewer_token, or one of users.';

function Login({ done }: { done: () => void }) {
  useEffect(() => document.querySelector('input')?.focus(), []);
  return (
    <main class="login card">
      <h1>hookwright</h1>
      <Form send={({ token = '' }) => login(token).then(done)}>
        <Field label="Console token" type="password" name="token" help={TOKEN} required />
        <button type="submit" class="primary">
          Sign in
        </button>
      </Form>
    </main>
  );
}

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
