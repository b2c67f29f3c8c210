import type { WorkloadIdentityHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { WorkloadRule } from '../../secrets/workload/rules.js';
import { toRequestOrigin } from './objects.js';
import type { SecretsServices } from './services.js';
import { toAccessBody } from './tokens.js';

type WorkloadServices = Pick<SecretsServices, 'workloadRules' | 'workloadTokens'>;

export const workloadIdentityHandlers = ({
  workloadRules: rules,
  workloadTokens: tokens,
}: WorkloadServices): WorkloadIdentityHandlers => ({
  async exchangeToken(input) {
    const { subject_token: subjectToken, rule } = input.body;
    const issued = await tokens.exchange(toRequestOrigin(input), { subjectToken, rule });
    return {
      status: 200,
      body: {
        access_token: issued.token,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: issued.expiresIn,
        rule: issued.rule,
      },
    };
  },

  async listWorkloadRules({ caller }) {
    const all = await rules.list(caller);
    return { status: 200, body: all.map(toRuleBody), headers: { 'X-Total-Count': String(all.length) } };
  },

  async putWorkloadRule(input) {
    const { access, ttl_seconds: ttlSeconds, single_use: singleUse, ...body } = input.body;
    const { name_prefix: namePrefix, ...limits } = access ?? {};
    const rule = {
      ...body,
      name: input.params.name,
      access: access && { ...limits, namePrefix },
      ttlSeconds,
      singleUse,
    };
    return { status: 200, body: toRuleBody(await rules.put(toRequestOrigin(input), rule)) };
  },

  async deleteWorkloadRule(input) {
    await rules.remove(toRequestOrigin(input), input.params.name);
    return { status: 204 };
  },
});

function toRuleBody(rule: WorkloadRule): components['schemas']['WorkloadRule'] {
  const { name, issuer, audience, claims, consumer, access, ttlSeconds, singleUse, createdAt, lastUsedAt } = rule;
  return {
    ...{ name, issuer, audience, ttl_seconds: ttlSeconds, single_use: singleUse },
    claims: claims.map(({ name: claim, patterns }) => ({ name: claim, patterns: [...patterns] })),
    created_at: createdAt.toISOString(),
    ...(consumer !== undefined && { consumer }),
    ...(access && { access: toAccessBody(access) }),
    ...(lastUsedAt && { last_used_at: lastUsedAt.toISOString() }),
  };
}
