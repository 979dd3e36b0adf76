# The gateway in a container. test/deploy/dockerfile.ts runs these steps without an engine; docs/deployment.md explains the parts.
FROM node:20-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund
RUN npm pack --silent --pack-destination /tmp
RUN npm install --prefix /app --omit=dev --ignore-scripts --no-audit --no-fund /tmp/hookwright-*.tgz

FROM node:20-bookworm-slim
COPY --from=build /app /app
ENV NODE_ENV=production HOOKWRIGHT_HOME=/data PATH=/app/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN mkdir -m 700 /data && chown 1000:1000 /data
USER 1000:1000
WORKDIR /config
VOLUME /data
EXPOSE 8644
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["hookwright", "gateway", "status"]
ENTRYPOINT ["hookwright"]
CMD ["gateway", "run", "--host", "0.0.0.0", "--out", "/data/build"]
