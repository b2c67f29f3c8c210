import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { user } from '../session.js';
import type { Page } from '../routes.js';

interface GuardedProps {
  readonly needs: Page['needs'];
  readonly children: ComponentChildren;
}

/** Shows a page to those whom it is for; whoever is not signed in is led there, and back afterwards. */
export function Guarded({ needs, children }: GuardedProps) {
  const { path, route } = useLocation();
  const isStranger = needs !== 'nobody' && user.value === null;
  useEffect(() => {
    if (isStranger) route(`/sign-in?next=${encodeURIComponent(path)}`, true);
  }, [isStranger, path, route]);
  if (needs === 'nobody') return <>{children}</>;
  if (!user.value) return <p class="quiet">Loading …</p>;
  if (needs === 'admin' && !user.value.isAdmin) return <p>This page is for admins.</p>;
  return <>{children}</>;
}
