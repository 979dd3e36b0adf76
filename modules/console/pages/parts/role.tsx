/** What the credential of this page may do: a viewer is shown no button that changes something, and that he is one. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Output } from '../api.ts';
import { logout } from '../api.ts';
import { useData } from './data.ts';
import { notify } from './notify.tsx';

export const Session = createContext<Output<'getSession'> | null>(null);

export const WithRole = ({ children }: { children: ComponentChildren }) => (
  <Session.Provider value={useData('getSession', {}, false).data}>{children}</Session.Provider>
);

const signOut = (): Promise<unknown> =>
  logout().catch(({ message }: Error) => notify(`The login goes on: ${message}.`, 'bad'));

/** Nothing for who may do everything, and where the console has no token. */
export function Role() {
  const { role, signs_in } = useContext(Session) ?? {};
  return (
    <>
      {role === 'viewer' && <p class="dim small">You are a viewer, who changes nothing.</p>}
      {signs_in && (
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      )}
    </>
  );
}
