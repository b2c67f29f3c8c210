import { ageValue } from '../../secrets/age-files.js';
import type { ServiceName } from './document.js';

/** A request that creates or lists resources for later requests. */
export interface Seed {
  readonly operationId: string;
  readonly credential: string;
  /** The path below the base path of the service. */
  readonly target: string;
  readonly body?: object;
}

const AN_HOUR_MS = 3_600_000;

/** @param round Distinguishes names from those of earlier rounds. */
export function listSeeds(service: ServiceName, round: number): readonly Seed[] {
  return service === 'dashboard' ? dashboardSeeds(round) : secretsSeeds(round);
}

function dashboardSeeds(round: number): readonly Seed[] {
  const member = { credential: 'memberSession' };
  const admin = { credential: 'adminSession' };
  const view = { filter: {}, sort: 'updated', group: 'repository' };
  const expiresAt = new Date(Date.now() + AN_HOUR_MS).toISOString();
  return [
    { operationId: 'getDashboard', ...member, target: '/api/dashboard?includeDrafts=true' },
    { operationId: 'getSettings', ...member, target: '/api/settings' },
    { operationId: 'saveView', ...member, target: `/api/views/view-${round}`, body: view },
    { operationId: 'createFeed', ...member, target: '/api/feeds', body: { kind: 'atom', label: `feed ${round}` } },
    { operationId: 'createFeed', ...member, target: '/api/feeds', body: { kind: 'badge', label: `badge ${round}` } },
    { operationId: 'createToken', ...member, target: '/api/tokens', body: { label: `token ${round}`, expiresAt } },
    { operationId: 'listCredentials', ...member, target: '/api/auth/credentials' },
    { operationId: 'shareBoard', ...member, target: '/api/sharing/guest' },
    {
      operationId: 'createInvite',
      ...admin,
      target: '/api/admin/invites',
      body: { username: `invited-${round}`, displayName: 'Invited' },
    },
    { operationId: 'listUsers', ...admin, target: '/api/admin/users' },
  ];
}

function secretsSeeds(round: number): readonly Seed[] {
  const by = { credential: 'secretsToken' };
  const object = (slug: string) => ({ slug, value: ageValue(), used_by: [`acme/shop-${round}`], tags: ['seed'] });
  const named = { consumer: 'acme/shop', description: `seed ${round}` };
  return [
    ...['a', 'b', 'c'].map((name) => ({
      ...{ operationId: 'createObject', ...by, target: '/objects', body: object(`${name}-${round}`) },
    })),
    // The second value of a secret turns the first one into a version.
    { operationId: 'updateObject', ...by, target: `/objects/a-${round}`, body: { value: ageValue({ recipients: 2 }) } },
    {
      operationId: 'createObject',
      ...by,
      target: '/objects',
      body: { ...object(`d-${round}`), used_by: ['acme/shop'] },
    },
    { operationId: 'listObjectVersions', ...by, target: `/objects/a-${round}/versions` },
    { operationId: 'createConsumerToken', ...by, target: '/consumer-tokens', body: named },
    {
      operationId: 'createToken',
      credential: 'adminSession',
      target: '/tokens',
      body: { description: `seed ${round}` },
    },
    { operationId: 'listCredentials', credential: 'adminSession', target: '/credentials' },
    { operationId: 'listConsumers', ...by, target: '/consumers' },
    { operationId: 'queryAuditLog', ...by, target: '/audit-log' },
  ];
}
