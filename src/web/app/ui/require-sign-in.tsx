import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { type Audience, loadSession, sessionError, user } from '../session.js';
import { Heading } from './headings.js';
import { AsyncContent } from './resource.js';

interface GuardedProps {
  readonly needs: Audience;
  readonly children: ComponentChildren;
}

/** Shows a page only to users who can open it; others are sent to the sign-in page, which leads back here. */
export function RequireSignIn({ needs, children }: GuardedProps) {
  const { url, route } = useLocation();
  // The router keeps this page on screen while the next one loads, although the address has already changed.
  const [own] = useState(url);
  const isStranger = needs !== 'public' && user.value === null;
  useEffect(() => {
    if (isStranger) route(`/sign-in?next=${encodeURIComponent(own)}`, true);
  }, [isStranger, own, route]);
  if (needs === 'public') return <>{children}</>;
  if (!user.value) return <Unknown />;
  if (needs === 'admin' && !user.value.isAdmin) return <NotForYou />;
  return <>{children}</>;
}

/** Shown while the session is loading, and when it could not be loaded. */
function Unknown() {
  const problem = sessionError.value;
  if (problem === undefined) return <p class="quiet">Loading …</p>;
  return (
    <>
      <Heading>Your session could not be loaded</Heading>
      <AsyncContent from={{ value: undefined, problem, reload: loadSession }}>{() => null}</AsyncContent>
    </>
  );
}

const NotForYou = () => (
  <section class="narrow">
    <Heading>Admins only</Heading>
    <p>Only admins can see this page.</p>
    <p>
      <a class="button" href="/">
        Back to the home page
      </a>
    </p>
  </section>
);
