# pubcheck without Spark, as a user without rights: docker run --rm -v "$PWD:/work" pubcheck lint db/
FROM python:3.12-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --wheel-dir /wheels "/source[live]"

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "pubcheck[live]" \
    && useradd --create-home --uid 1000 pubcheck
USER pubcheck
WORKDIR /work
ENTRYPOINT ["pubcheck"]
CMD ["--help"]
