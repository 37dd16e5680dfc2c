# One image for all parts; what runs is the command (docker-compose.yml).
FROM python:3.13-slim
WORKDIR /opt/proxid
COPY requirements/classify.txt requirements/classify.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/classify.txt
COPY . .
RUN pip install --no-cache-dir "setuptools>=80" && pip install --no-cache-dir --no-deps --no-build-isolation . ./models/en_proxid \
    && useradd --system --uid 10001 proxid \
    && install --directory --owner 10001 --mode 0700 /var/lib/proxid
USER 10001
ENTRYPOINT ["proxid"]
CMD ["--help"]
