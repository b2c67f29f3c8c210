import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { loadSession, sessionProblem, user } from '../session.js';
import { Heading } from './heading.js';
import { Loaded } from './loaded.js';
import type { Page } from '../routes.js';

interface GuardedProps {
  readonly needs: Page['needs'];
  readonly children: ComponentChildren;
}

/** Shows a page to those whom it is for; whoever is not signed in is led there, and back afterwards. */
export function Guarded({ needs, children }: GuardedProps) {
  const { url, route } = useLocation();
  // The router shows this page until the next one is loaded, when the address is already the next one's.
  const [own] = useState(url);
  const isStranger = needs !== 'nobody' && user.value === null;
  useEffect(() => {
    if (isStranger) route(`/sign-in?next=${encodeURIComponent(own)}`, true);
  }, [isStranger, own, route]);
  if (needs === 'nobody') return <>{children}</>;
  if (!user.value) return <Unknown />;
  if (needs === 'admin' && !user.value.isAdmin) return <NotForYou />;
  return <>{children}</>;
}

/** While it is not known who is there, and where that can't be had. */
function Unknown() {
  const problem = sessionProblem.value;
  if (problem === undefined) return <p class="quiet">Loading …</p>;
  return (
    <>
      <Heading>No answer</Heading>
      <Loaded from={{ value: undefined, problem, reload: loadSession }}>{() => null}</Loaded>
    </>
  );
}

const NotForYou = () => (
  <>
    <Heading>For admins</Heading>
    <p>
      This page is for admins, and you are none. <a href="/">Back to the start</a>
    </p>
  </>
);
