/** What the credential of this page may do: a viewer is shown no button that changes something. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useData } from './data.ts';

const MayChange = createContext(false);

export function WithRole({ children }: { children: ComponentChildren }) {
  const { data } = useData('getSession', {}, false);
  return <MayChange.Provider value={data?.role === 'operator'}>{children}</MayChange.Provider>;
}

/** What only an operator may use. */
export const Operator = ({ children }: { children: ComponentChildren }) => (useContext(MayChange) ? children : null);
